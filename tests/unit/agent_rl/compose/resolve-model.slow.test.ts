import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { writeAdapter } from '#model/adapters/adapter-files.ts';
import { smallModelConfig, writeSmallModel } from '#tests/support/small-model.ts';
import { resolved } from '#tests/support/resolved.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { saveTinyAdapter, tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const config = join(packageRoot(), 'configs', 'code_exec_grpo.yaml');

beforeAll(async () => {
  await writeSmallModel(at('base'), smallModelConfig);
  await saveTinyAdapter(at('first'), smallModelConfig, { baseModel: at('base') });
  await writeAdapter(at('second'), smallModelConfig, {
    adapter: tinyAdapter,
    parameters: tinyAdapterWeights(smallModelConfig),
    baseModel: at('base'),
    under: [at('first')],
  });
});

const weightsOf = async (overrides: readonly string[], checkpoint?: string) => {
  const { layers, newAdapter } = (await resolved(config, overrides, { checkpoint })).model;
  return { layers, newAdapter };
};

describe('The starting weights of a run', () => {
  test('the adapters have their training order without duplicates', async () => {
    const { layers, newAdapter } = await weightsOf([
      `model.path=${at('base')}`,
      `model.adapters=[${at('second')}, ${at('first')}]`,
    ]);
    expect(layers).toEqual({ base: at('base'), adapters: [at('first'), at('second')] });
    expect(newAdapter).toBeUndefined();
  });

  test('a checkpoint is complete without the adapters of the config', async () => {
    const paths = [`model.path=${at('base')}`, `model.adapters=[${at('first')}]`];
    const settings = [...paths, 'model.lora.rank=2'];
    expect(await weightsOf(settings)).toMatchObject({
      layers: { base: at('base'), adapters: [at('first')] },
      newAdapter: { rank: 2 },
    });
    expect(await weightsOf(settings, at('second'))).toEqual({
      layers: { base: at('base'), adapters: [at('first'), at('second')] },
      newAdapter: undefined,
    });
  });

  test.each(['rl', 'sft'])('a missing adapter is refused at the start of %s', async (mode) => {
    const model = { 'model.path': at('base'), 'model.adapters': [at('missing')] };
    const overrides = { ...model, 'train.mode': mode };
    const says = `${at('missing')} does not exist. model.adapters names it.`;
    const error = await rejectionOf(trainAgent({ config, overrides, dryRun: true }));
    expect(error).toMatchObject(errorOf('MODEL_INVALID', says));
  });
});
