import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { loadModel, saveModel } from '#model/weights/load-model.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { errorOf, rejectionOf } from '../support/thrown.ts';

const folder = temporaryFolder();
const quantization = { bits: 4, blockSize: 16 } as const;
const floats = join(folder, 'floats');
const bytes = join(folder, 'bytes');

beforeAll(async () => {
  for (const to of [floats, bytes]) await writeSmallModel(to, { ...smallModelConfig, layers: 2 });
  await saveModel(bytes, await loadModel(floats, { quantize: quantization }));
});

const planned = (overrides: Readonly<Record<string, unknown>>) =>
  trainAgent({
    config: join(packageRoot(), 'configs', 'code_exec_grpo.yaml'),
    overrides,
    dryRun: true,
  });

describe('A run over four-bit weights', () => {
  test.each([
    [
      'quantised at load',
      { 'model.quantize': '4bit', 'model.quantizeBlockSize': 16 },
      () => floats,
    ],
    ['quantised in its folder', {}, () => bytes],
  ])('is refused at the start without an adapter: %s', async (_title, overrides, model) => {
    for (const mode of ['rl', 'sft']) {
      expect(
        await rejectionOf(planned({ ...overrides, 'model.path': model(), 'train.mode': mode })),
      ).toMatchObject(errorOf('CONFIG_INVALID', /quantised to four bits.*model\.lora/));
    }
  });
});
