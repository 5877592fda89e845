import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { modelResolvers } from '#agent_rl/compose/model/resolve-model.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { train } from '#agent_rl/jobs/train/train.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

test('a training run resolves its weights, text folder and model description once each', async () => {
  const counts = new Map<string, number>();
  const counting = Object.entries(modelResolvers).map(([name, resolver]) => {
    const counted = (...args: unknown[]) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return (resolver as (...given: unknown[]) => unknown)(...args);
    };
    return [name, counted] as const;
  });
  const prepared = await prepareRun({
    file: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides: [
      'eval.before=false',
      'eval.after=false',
      'train.iterations=1',
      'rollout.tasksPerStep=1',
      'rollout.groupSize=2',
      'policy.maxTurnTokens=16',
      'algorithm.microBatchTokens=512',
    ],
    flags: [
      { source: 'test', path: 'run.outputDir', value: folder },
      { source: 'test', path: 'run.logLevel', value: 'error' },
    ],
  });
  const job = {
    ...prepared,
    signal: new AbortController().signal,
    print: () => undefined,
    dryRun: false,
    resolvers: Object.fromEntries(counting) as typeof modelResolvers,
  };
  expect(await train(job)).toMatchObject({ iterations: 1 });
  expect(Object.fromEntries(counts)).toEqual({
    localLayers: 1,
    describeLayers: 1,
    textFolder: 1,
    openLanguageModelFolder: 1,
  });
});
