import type { CallsCase, CodeTests, StdinCase } from '../../../agent_rl/core/code-task.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

import { isTricky } from './atom.ts';
import type { Case } from './cases.ts';
import { type Family, heldOutFamilies, trainFamilies } from './families.ts';
import { type Split, parametersOf, signatureOf } from './parameters.ts';
import { definitionLine } from './program.ts';
import { normalisePrompt } from './prompt.ts';
import { printed } from './python-text.ts';
import { type GeneratedTask, generateTask } from './task.ts';

/** Rows per family. */
const rowCounts = { train: 17, eval: 6, heldOut: 10 } as const;

export const shippedSeed = 20_261;

/** A line of a task file. */
export type TaskRow = Readonly<Record<string, unknown>> & {
  readonly task_id: string;
  readonly prompt: string;
};

/** The shipped rows of a split, in a shuffled order that depends on the seed alone. */
export function generateRows(split: Split, seed: number): TaskRow[] {
  const rng = new KeyedRng(seed, 'code-tasks', split);
  const plan =
    split === 'train'
      ? trainFamilies.map((family) => ({ family, count: rowCounts.train }))
      : [
          ...trainFamilies.map((family) => ({ family, count: rowCounts.eval })),
          ...heldOutFamilies.map((family) => ({ family, count: rowCounts.heldOut })),
        ];
  const tasks = plan.flatMap(({ family, count }) =>
    generateFamily(family, split, { count, rng: rng.child(family.name) }),
  );
  return rng
    .shuffle(tasks)
    .map((task, i) => rowOf(task, `${split}-${String(i + 1).padStart(4, '0')}`));
}

/** Tasks of one family with different prompts, using every parameter value before any twice. */
function generateFamily(
  family: Family,
  split: Split,
  { count, rng }: { readonly count: number; readonly rng: KeyedRng },
): GeneratedTask[] {
  const choices = parametersOf(family, split);
  const tasks: GeneratedTask[] = [];
  const prompts = new Set<string>();
  for (let draw = 0; tasks.length < count; draw++) {
    const parameters = choices[draw % choices.length] ?? [];
    const mode =
      rng.child('mode', draw >> 1).uniform() < 0.5 === (draw % 2 === 0) ? 'stdin' : 'calls';
    const task = generateTask({ family, parameters, mode }, rng.child(draw));
    const key = normalisePrompt(task.prompt);
    if (prompts.has(key)) continue;
    prompts.add(key);
    tasks.push(task);
  }
  return tasks;
}

function rowOf(task: GeneratedTask, taskId: string): TaskRow {
  const { family, mode, parameters } = task.shape;
  return {
    task_id: taskId,
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
    },
  };
}

/** Names of the parts the teacher usually gets wrong. */
function trickyParts(family: Family): string[] {
  const source = isTricky(family.source) ? [family.sourceName] : [];
  return [...source, ...family.steps.filter((step) => isTricky(step.atom)).map(({ name }) => name)];
}

function testsOf({ shape, cases }: GeneratedTask): CodeTests {
  const { family, mode } = shape;
  if (mode === 'calls') {
    const tests = cases.hidden.map(callsCase);
    return {
      kind: 'calls',
      entry: 'f',
      cases: [{ ...callsCase(cases.example), public: true }, ...tests],
    };
  }
  const tests = cases.hidden.map((hidden) => stdinCase(family, hidden));
  return {
    kind: 'stdin',
    cases: [{ ...stdinCase(family, cases.example), public: true }, ...tests],
  };
}

const callsCase = ({ args, expected }: Case): CallsCase => ({ args, expected });

const stdinCase = ({ source }: Family, { args, expected }: Case): StdinCase => ({
  input: `${source.line(args)}\n`,
  output: `${printed(expected)}\n`,
});

/** The text of a task file. */
export const rowsText = (rows: readonly TaskRow[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');
