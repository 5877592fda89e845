import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { readLines } from '../support/acme-project.ts';
import { servedEnvironment } from '../support/served-environment.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** The search job of two iterations, with what is set. */
const trained = (name: string, file: string) =>
  trainAgent({
    config: file,
    overrides: {
      'run.name': name,
      'run.outputDir': join(folder, 'runs'),
      'run.engineThreads': 1,
      'rollout.tasksPerStep': 3,
      'rollout.groupSize': 4,
      'train.iterations': 2,
      'train.warmupSteps': 0,
      'eval.maxTasks': 12,
    },
  });

test('the search job gives the same rewards, evaluations and weights through serve --env and back', async () => {
  const local = join(packageRoot(), 'configs', 'search_qa_grpo.yaml');
  const rows = readLines(join(packageRoot(), 'dataset', 'search_tasks'), 'train.jsonl');
  const held = readLines(join(packageRoot(), 'dataset', 'search_tasks'), 'eval.jsonl');
  const ids = (all: readonly object[]) =>
    all
      .map((row) => `${JSON.stringify({ task_id: (row as { task_id: string }).task_id })}\n`)
      .join('');
  writeBelow(folder, 'tasks/train.jsonl', ids(rows));
  writeBelow(folder, 'tasks/eval.jsonl', ids(held));
  const { url, close } = await servedEnvironment(local);
  const { tools: _tools, ...settings } = parse(readFileSync(local, 'utf8')) as object & {
    tools: unknown;
  };
  const elsewhere = {
    environment: { type: 'openenv', url },
    datasets: [{ dir: join(folder, 'tasks') }],
  };
  const remote = writeBelow(folder, 'remote.yaml', JSON.stringify({ ...settings, ...elsewhere }));
  const [there, here] = [await trained('there', remote), await trained('here', local)];
  const served = await close();
  expect(there['weightsSha256']).toBe(here['weightsSha256']);
  const rewards = (run: string) =>
    readLines(join(folder, 'runs', run), 'metrics.jsonl').map((line) => line['rollout/rewardMean']);
  expect(rewards('there')).toEqual(rewards('here'));
  expect(served).toMatchObject({ environment: 'search', errors: 0, refused: 0 });
}, 300_000);
