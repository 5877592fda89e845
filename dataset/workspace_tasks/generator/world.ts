import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { type Owner, pickNames, relationsOf, thingsOf } from './names.ts';
import {
  follow,
  type RelationStep,
  type Step,
  type StepForm,
  stepSetup,
  trainedSteps,
} from './step.ts';
import { makeTable, type TableRow } from './table.ts';

/** What only the sandbox knows. */
export interface World {
  things: readonly string[];
  /** What the question asks for, in order of its use. */
  chain: readonly Step[];
  /** Relations that are there and not asked about. */
  spare: readonly RelationStep[];
}

const thingCount = 8;
const spareCount = 2;

/** Names of a table: its file, its three columns and its key. */
const namesOfTable = 5;

/** A world with steps of these forms and some more relations. */
export function makeWorld(forms: readonly StepForm[], owner: Owner, rng: KeyedRng): World {
  const things = pickNames(thingsOf[owner], thingCount, rng.child('things'));
  const spare = Array.from({ length: spareCount }, () => rng.pick(trainedSteps.relation));
  const all = [...forms, ...spare];
  const names = pickNames(relationsOf[owner], all.length * namesOfTable, rng.child('relations'));
  const steps = all.map((form, at) => {
    const own = names.slice(at * namesOfTable, (at + 1) * namesOfTable);
    return makeStep(form, things, own as NamesOfTable, rng.child('values', at));
  });
  return {
    things,
    chain: steps.slice(0, forms.length),
    spare: steps.slice(forms.length) as RelationStep[],
  };
}

type NamesOfTable = [string, string, string, string, string];

function makeStep(
  { kind, form }: StepForm,
  things: readonly string[],
  names: NamesOfTable,
  rng: KeyedRng,
): Step {
  return kind === 'relation'
    ? { kind, name: names[0], form, values: derangement(things, rng) }
    : { kind, table: makeTable(form, names, drawRows(kind, things, rng), rng) };
}

/** The same things, names and forms with other values. */
export function otherValues({ things, chain, spare }: World, rng: KeyedRng): World {
  const other = <S extends Step>(step: S, at: number): S => {
    const drawn = rng.child('values', at);
    return step.kind === 'relation'
      ? { ...step, values: derangement(things, drawn) }
      : {
          ...step,
          table: { ...step.table, rows: drawRows(step.kind, things, drawn) },
        };
  };
  return {
    things,
    chain: chain.map(other),
    spare: spare.map((step, at) => other(step, chain.length + at)),
  };
}

/** A number each for a largest, two each for totals; no two the same. */
function drawRows(kind: 'largest' | 'total', things: readonly string[], rng: KeyedRng): TableRow[] {
  const all = rng.child('rows').shuffle(kind === 'largest' ? things : [...things, ...things]);
  const numbers = new Set<number>();
  const drawn = rng.child('numbers');
  while (numbers.size < 2 * all.length) numbers.add(10 + drawn.integer(990));
  const list = [...numbers];
  return all.map((thing, at) => ({
    thing,
    number: list[2 * at] ?? 0,
    other: list[2 * at + 1] ?? 0,
  }));
}

/** Each thing of another, and of no two the same. */
function derangement(things: readonly string[], rng: KeyedRng): Map<string, string> {
  const values = rng.shuffle(things);
  return things.some((thing, at) => values[at] === thing)
    ? derangement(things, rng)
    : new Map(things.map((thing, at) => [thing, values[at] ?? thing]));
}

/** What is met on the way from a thing along steps, itself first. */
export function walk(start: string, chain: readonly Step[]): string[] {
  const met = [start];
  for (const step of chain) met.push(follow(met.at(-1) ?? '', step));
  return met;
}

/** Python that makes the world. The order tells nothing. */
export const setupOf = ({ chain, spare }: World, rng: KeyedRng): string =>
  ['import csv, json, types', ...rng.shuffle([...chain, ...spare]).map(stepSetup)].join('\n');
