import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const iterations = 2;
const sizes = { tasksPerStep: 4, groupSize: 2, evalTasks: 8 };

/** A short run of the shipped config from the shipped starter, with some of its tools. */
async function train(name: string, ...more: string[]): Promise<void> {
  const sets = [
    `run.name=${name}`,
    `train.iterations=${iterations}`,
    'train.warmupSteps=0',
    `rollout.tasksPerStep=${sizes.tasksPerStep}`,
    `rollout.groupSize=${sizes.groupSize}`,
    `eval.maxTasks=${sizes.evalTasks}`,
    'algorithm.microBatchTokens=1024',
    'sandbox.wallS=20',
    ...more,
  ];
  const { code, stderr } = await agentRl(
    [
      'train',
      '--config',
      join(packageRoot(), 'configs', 'mixed_grpo.yaml'),
      ...sets.flatMap((set) => ['--set', set]),
    ],
    project,
  );
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
}

interface Episode {
  taskId: string;
  success: boolean;
  metrics: Readonly<Record<string, number>>;
  toolCalls: readonly {
    name: string;
    status: string;
    content: string;
  }[];
}

const episodes = (name: string, file: string): Episode[] =>
  readLines(join(project, 'runs', name), 'trajectories', file) as unknown as Episode[];

/** Ids of programs end in a number of four digits. */
const isProgram = ({ taskId }: Episode): boolean => /^(train|eval)-\d{4}$/.test(taskId);

const callsOf = (made: readonly Episode[]) => made.flatMap(({ toolCalls }) => toolCalls);

describe('with both tools', () => {
  beforeAll(() => train('both'), 120_000);

  test('every iteration has half of its episodes from each set of tasks', () => {
    const trained = episodes('both', 'train.jsonl');
    expect(trained).toHaveLength(iterations * sizes.tasksPerStep * sizes.groupSize);
    expect(trained.filter(isProgram)).toHaveLength(trained.length / 2);
  });

  test('both tools are called, and answer', () => {
    const called = callsOf(episodes('both', 'train.jsonl')).filter(({ status }) => status === 'ok');
    expect([...new Set(called.map(({ name }) => name))].toSorted()).toEqual([
      'code_exec',
      'search',
    ]);
  });

  test('the choice of the tool is reported for all tasks and for each set', () => {
    const { before } = readJson(join(project, 'runs', 'both'), 'summary.json')['eval'] as {
      before: {
        environment: Readonly<Record<string, number>>;
        environmentByGroup: Readonly<Record<string, Readonly<Record<string, number>>>>;
      };
    };
    const evaluated = episodes('both', 'eval.jsonl').slice(0, sizes.evalTasks);
    expect(evaluated.map(({ metrics }) => metrics['toolChoiceRight'])).toEqual(
      evaluated.map((one) => {
        const wanted = isProgram(one) ? 'code_exec' : 'search';
        return one.toolCalls[0]?.name === wanted ? 1 : 0;
      }),
    );
    expect(before.environment['toolChoiceRight']).toBeGreaterThan(0);
    expect(Object.keys(before.environmentByGroup)).toEqual(
      expect.arrayContaining(['code_tasks', 'search_tasks']),
    );
  });
});

test('calls of a tool that was removed are answered, and programs are no longer solved without theirs', async () => {
  // The index of the run before.
  const corpus = '{path: .cache/search_corpus}';
  await train(
    'without',
    'train.iterations=1',
    `tools=[{type: search, mode: corpus, topK: 1, corpus: ${corpus}}]`,
    // As version 0.1 had it: an environment code_exec of its own cannot do without the tool.
    'environment={type: mixed, search: {maxAnswerWords: 8, match: whole}}',
    'datasets=[{dir: dataset/search_tasks}, {dir: dataset/code_tasks}]',
  );
  const all = [...episodes('without', 'train.jsonl'), ...episodes('without', 'eval.jsonl')];
  const refused = callsOf(all).filter(({ name }) => name === 'code_exec');
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, content } of refused) {
    expect([status, content]).toEqual([
      'rejected',
      'Error: there is no tool named "code_exec". Tools: search.',
    ]);
  }
  expect(all.filter((one) => isProgram(one) && one.success)).toEqual([]);
}, 120_000);
