import {
  compare,
  type Comparison,
  type TaskAttempts,
} from '../../../agent_rl/trainer/success-rate.ts';
import { type ControlName, type Controls, fromDemonstrations, greedy, rivals } from './control.ts';
import { earnedAt, type Measure, measures, passAt } from './counts.ts';
import { type BySlice, figureDifferences, figuresOf } from './figures.ts';

/** What is reported of a policy: success, what it spent and what that would earn at the prices. */
export const qualities = [
  'success',
  'callsSolved',
  'errorsSolved',
  'calls',
  'errors',
  'earned',
] as const;

export type Quality = (typeof qualities)[number];
export type Qualities = Partial<Record<Quality, BySlice>>;

/** What follows from the controls of a seed. Plain JSON. */
export interface SeedFigures {
  /** The run less a control on the same tasks, by the control's name. */
  differences: Partial<Record<ControlName, Comparison>>;
  qualities: Partial<Record<ControlName, Qualities>>;
  /** RL that began from the right demonstrations less these. */
  beyondDemonstrations: Partial<Record<ControlName, Qualities>>;
  /** The chance that one of k attempts before the run succeeds, by k, powers of 2. */
  passBefore: Readonly<Partial<Record<number, BySlice>>>;
  /** How often the answer of the lying tool's world was given. */
  lieFollowed: BySlice | undefined;
}

/** All figures with their intervals, over the same tasks where two evaluations are compared. */
export function seedFigures(
  controls: Controls,
  { seed, attempts, price }: { seed: number; attempts: number; price: number },
): SeedFigures {
  const measureOf = (name: Quality): Measure =>
    name === 'earned' ? earnedAt(price) : measures[name];
  const qualitiesBy = (figures: (measure: Measure) => BySlice | undefined): Qualities =>
    Object.fromEntries(qualities.map((name) => [name, figures(measureOf(name))]));
  const outcome = (name: ControlName) => controls[name]?.after;
  const [run, shown, before, lied] = (
    ['after', 'right-demonstrations', 'pass-before', 'lying-output'] as const
  ).map(outcome);
  const lieFollowed = lied && figuresOf(lied, measures.saidOther, seed);
  return {
    differences: collected(
      rivals,
      (name) => run && outcome(name) && pairedDifference(run, outcome(name)!, seed),
    ),
    qualities: collected(greedy, (name) => {
      const own = outcome(name);
      return own && qualitiesBy((measure) => figuresOf(own, measure, seed));
    }),
    beyondDemonstrations: collected(fromDemonstrations, (name) => {
      const own = outcome(name);
      if (own === undefined || shown === undefined) return undefined;
      return qualitiesBy((measure) => figureDifferences([own, shown], measure, seed));
    }),
    passBefore: before
      ? collected(powersOf2(attempts), (k) => figuresOf(before, passAt(k), seed))
      : {},
    lieFollowed,
  };
}

function* powersOf2(most: number): Generator<number> {
  for (let k = 1; k <= most; k *= 2) yield k;
}

const collected = <Key extends string | number, Value>(
  keys: Iterable<Key>,
  of: (key: Key) => Value | undefined,
): Partial<Record<Key, Value>> =>
  Object.fromEntries(
    [...keys].flatMap((key) => {
      const value = of(key);
      return value === undefined ? [] : [[key, value]];
    }),
  ) as Partial<Record<Key, Value>>;

/** An evaluation that may have kept its tasks. */
interface Kept {
  perTask?: readonly TaskAttempts[];
}

/**
 * The run less a control on the same tasks, in all and by slice, with intervals by cluster bootstrap over pairs.
 *
 * @returns `undefined` where one of the two kept no tasks, or they attempted others
 */
export const pairedDifference = (run: Kept, control: Kept, seed: number): Comparison | undefined =>
  run.perTask && control.perTask && compare(control.perTask, run.perTask, seed);
