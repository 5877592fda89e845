import type { CallsCase, CodeTests, StdinCase } from '../../../agent_rl/core/tasks/code-task.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

import { printed } from './atom.ts';
import { inputLine } from './atoms/sources.ts';
import type { Case } from './cases.ts';
import { type Family, heldOutFamilies, trainFamilies } from './families.ts';
import { type ParameterPart, parametersOf, signatureOf } from './parameters.ts';
import { definitionLine } from './program.ts';
import { normalisePrompt } from './prompt.ts';
import { type GeneratedTask, generateTask } from './task.ts';

export type Split = 'train' | 'eval';

interface Share {
  families: readonly Family[];
  part: ParameterPart;
  count: number;
  /** Reported under this name and not in the total. */
  slice?: string;
}

const shares: Readonly<Record<Split, readonly Share[]>> = {
  train: [{ families: trainFamilies, part: 'trained', count: 17 }],
  eval: [
    { families: trainFamilies, part: 'trained', count: 6 },
    {
      families: trainFamilies,
      part: 'unseen',
      count: 2,
      slice: 'parameter values never trained on',
    },
    { families: heldOutFamilies, part: 'unseen', count: 10, slice: 'families never trained on' },
  ],
};

export const shippedSeed = 20_261;

/** The shipped rows of a split, in a shuffled order that depends on the seed alone. */
export function generateRows(split: Split, seed: number): ({ task_id: string } & Row)[] {
  // Evaluation asks nothing that training asked, word for word.
  const taken = new Set(
    split === 'train' ? [] : generateRows('train', seed).map((row) => normalisePrompt(row.prompt)),
  );
  const rng = new KeyedRng(seed, 'code-tasks', split);
  const tasks = shares[split].flatMap((share) =>
    share.families.flatMap((family) => {
      const own = share.slice === undefined ? rng : rng.child(share.slice);
      return generateFamily(family, share, { rng: own.child(family.name), taken });
    }),
  );
  return rng
    .shuffle(tasks)
    .map((task, i) =>
      Object.assign({ task_id: `${split}-${String(i + 1).padStart(4, '0')}` }, task),
    );
}

/** Tasks of one family with different prompts, using every parameter value before any twice. */
function generateFamily(
  family: Family,
  { part, count, slice }: Share,
  { rng, taken }: { rng: KeyedRng; taken: Set<string> },
): Row[] {
  const choices = parametersOf(family, part);
  const tasks: Row[] = [];
  for (let draw = 0; tasks.length < count; draw++) {
    const parameters = choices[draw % choices.length] ?? [];
    const mode =
      rng.child('mode', draw >> 1).uniform() < 0.5 === (draw % 2 === 0) ? 'stdin' : 'calls';
    const task = generateTask({ family, parameters, mode }, rng.child(draw));
    const key = normalisePrompt(task.prompt);
    if (taken.has(key)) continue;
    taken.add(key);
    tasks.push(rowOf(task, slice));
  }
  return tasks;
}

type Row = ReturnType<typeof rowOf>;

function rowOf(task: GeneratedTask, slice: string | undefined) {
  const { family, mode, parameters } = task.shape;
  return {
    prompt: task.prompt,
    starter_code: mode === 'stdin' ? '' : `${definitionLine(family)}\n`,
    tests: testsOf(task),
    compare: mode === 'stdin' ? 'whitespace' : 'exact',
    reference_solution: task.referenceSolution,
    metadata: {
      family: family.name,
      signature: signatureOf(family, parameters),
      mode,
      tricky: trickyParts(family),
      heldOutFamily: family.heldOut,
      slice,
    },
  };
}

/** Names of the parts the teacher usually gets wrong. */
function trickyParts(family: Family): string[] {
  const source = family.source.tricky ? [family.sourceName] : [];
  return [...source, ...family.steps.filter(({ atom }) => atom.tricky).map(({ name }) => name)];
}

function testsOf({ shape, cases }: GeneratedTask): CodeTests {
  const all = <Test>(test: (given: Case) => Test) => [
    { ...test(cases.example), public: true },
    ...cases.hidden.map(test),
  ];
  return shape.mode === 'calls'
    ? { kind: 'calls', entry: 'f', cases: all(callsCase) }
    : { kind: 'stdin', cases: all(stdinCase) };
}

const callsCase = ({ args, expected }: Case): CallsCase => ({ args, expected });

const stdinCase = ({ args, expected }: Case): StdinCase => ({
  input: `${inputLine(args)}\n`,
  output: `${printed(expected)}\n`,
});
