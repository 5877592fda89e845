import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { sets, succeeded } from '../support/built-program.ts';
import { type Line, readJson } from '../support/acme-project.ts';
import { episodesIn } from '../support/journal.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const run = join(project, 'runs', 'both');
const agentRl = residentProgram('agent-rl');

/** Makes a run of the shipped config short; many workspace tasks, so that a few drawn of all have some. */
const settings = [
  'run.name=both',
  ...'train.iterations=2 train.warmupSteps=0 eval.maxTasks=16'.split(' '),
  ...'rollout.tasksPerStep=4 rollout.groupSize=2 algorithm.microBatchTokens=1024'.split(' '),
  'sandbox.wallS=20',
  'datasets.1.generator={type: workspace, evalTasks: 1000}',
];

beforeAll(async () => {
  const config = join(packageRoot(), 'configs', 'mixed_grpo.yaml');
  succeeded(await agentRl(['train', '--config', config, ...sets(...settings)], project));
}, 120_000);

test('a run with two tools calls both, and they answer', async () => {
  const calls = (await episodesIn(run, 'train')).flatMap(({ toolCalls }) => toolCalls);
  const answered = calls.filter(({ status }) => status !== 'rejected').map(({ name }) => name);
  expect(new Set(answered)).toEqual(new Set(['code_exec', 'search']));
});

test('a run reports the choice of the tool for all tasks and for each task set', () => {
  const { before } = readJson(run, 'summary.json')['eval'] as Record<string, Record<string, Line>>;
  expect(before?.['environment']?.['toolChoiceRight']).toBeGreaterThan(0);
  expect(Object.keys(before?.['environmentByGroup'] ?? {})).toEqual(
    expect.arrayContaining(['search_tasks', 'workspace']),
  );
});
