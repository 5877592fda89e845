import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { sets, succeeded } from '../support/built-program.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const iterations = 2;
const sizes = { tasksPerStep: 4, groupSize: 2, evalTasks: 16 };

/** A short run of the shipped config from the shipped starter, with some of its tools. */
async function train(name: string, ...more: string[]): Promise<void> {
  const settings = [
    `run.name=${name}`,
    ...`train.iterations=${iterations} train.warmupSteps=0 eval.maxTasks=${sizes.evalTasks}`.split(
      ' ',
    ),
    `rollout.tasksPerStep=${sizes.tasksPerStep}`,
    `rollout.groupSize=${sizes.groupSize}`,
    'algorithm.microBatchTokens=1024',
    'sandbox.wallS=20',
    // Many, so that a few drawn of all have some.
    'datasets.1.generator={type: workspace, evalTasks: 1000}',
    ...more,
  ];
  const config = join(packageRoot(), 'configs', 'mixed_grpo.yaml');
  succeeded(await agentRl(['train', '--config', config, ...sets(...settings)], project));
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

/** Only the environment of the workspace counts programs. */
const isOfWorkspace = ({ metrics }: Episode): boolean => 'programs' in metrics;

const callsOf = (made: readonly Episode[]) => made.flatMap(({ toolCalls }) => toolCalls);

describe('A run with two tools', () => {
  beforeAll(() => train('both'), 120_000);

  test('calls both tools, which answer', () => {
    const called = callsOf(episodes('both', 'train.jsonl')).filter(
      ({ status }) => status !== 'rejected',
    );
    expect([...new Set(called.map(({ name }) => name))].toSorted()).toEqual([
      'code_exec',
      'search',
    ]);
  });

  test('reports the choice of the tool for all tasks and for each task set', () => {
    const { before } = readJson(join(project, 'runs', 'both'), 'summary.json')['eval'] as {
      before: {
        environment: Readonly<Record<string, number>>;
        environmentByGroup: Readonly<Record<string, Readonly<Record<string, number>>>>;
      };
    };
    const evaluated = episodes('both', 'eval.jsonl').slice(0, sizes.evalTasks);
    expect(evaluated.map(({ metrics }) => metrics['toolChoiceRight'])).toEqual(
      evaluated.map((one) => {
        const wanted = isOfWorkspace(one) ? 'code_exec' : 'search';
        return one.toolCalls[0]?.name === wanted ? 1 : 0;
      }),
    );
    expect(before.environment['toolChoiceRight']).toBeGreaterThan(0);
    expect(Object.keys(before.environmentByGroup)).toEqual(
      expect.arrayContaining(['search_tasks', 'workspace']),
    );
  });
});
