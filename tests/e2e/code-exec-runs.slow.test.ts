import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { sets, succeeded } from '../support/built-program.ts';
import { readJson, readLines, withoutTimes, type Line } from '../support/acme-project.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = packageRoot();
const folder = temporaryFolder();
const trainCodeExecAgent = residentProgram('train-code-exec-agent');

const settings = [
  'rollout.tasksPerStep=2',
  'rollout.groupSize=3',
  'policy.maxContextTokens=512',
  'rollout.maxEpisodeTokens=512',
  'train.warmupSteps=0',
  // As many as one episode may have: before a run, its speed is measured on them.
  'algorithm.microBatchTokens=512',
  'eval.before=false',
  'eval.after=false',
];

const flags = [
  '--config',
  join(root, 'configs', 'code_exec_grpo.yaml'),
  '--output',
  folder,
  '--model',
  join(root, 'model', 'starter'),
  '--dataset-dir',
  join(root, 'dataset', 'code_tasks'),
  '--max-iterations',
  '1',
  ...sets(...settings),
];

/** One iteration of the starter model on two tasks, engine and sandbox real. */
async function trained(workers: number) {
  const name = `w${workers}`;
  succeeded(
    await trainCodeExecAgent(
      [...flags, '--async-rollout-workers', String(workers), '--set', `run.name=${name}`],
      folder,
    ),
  );
  const { weightsSha256 } = readJson(folder, name, 'summary.json');
  const episodes = readLines(folder, name, 'trajectories', 'train.jsonl');
  return { weightsSha256, episodes: withoutTimes(episodes) as Line[] };
}

test('rollouts and weights are the same with 1, 4 and 16 concurrent episodes', async () => {
  const [one, four, sixteen] = [await trained(1), await trained(4), await trained(16)];
  expect(one.episodes).toHaveLength(6);
  expect(one.episodes.some(({ toolCalls }) => (toolCalls as Line[]).length > 0)).toBe(true);
  expect(four.episodes).toEqual(one.episodes);
  expect(sixteen.episodes).toEqual(one.episodes);
  expect([four.weightsSha256, sixteen.weightsSha256]).toEqual([
    one.weightsSha256,
    one.weightsSha256,
  ]);
}, 240_000);
