import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { corruption } from '#agent_rl/runs/checkpoints.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { parameterSpecs } from '#model/config/parameters.ts';
import { makeAcmeProject, readJson } from '../support/acme-project.ts';
import { startProgram, succeeded } from '../support/built-program.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// A model of 0.3 billion parameters is trained whole, checkpointed and resumed: 3.6 GB a checkpoint, 2.4 GB of it in one
// file. It takes 10 GB of memory, 12 GB of disk and several minutes.

const gigabyte = 1e9;
const wide = { hiddenSize: 1024, layers: 25, heads: 16, kvHeads: 8, headDim: 64 };
const config = { ...smallModelConfig, ...wide, intermediateSize: 2816 };

/** Ones for norms, and small numbers that look random for matrices: drawing each would take minutes. */
function weightsOf(given: ModelConfig): Map<string, Float32Array> {
  const weights = new Map<string, Float32Array>();
  for (const { name, shape } of parameterSpecs(given)) {
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(1);
    if (shape.length > 1)
      for (let i = 0; i < values.length; i++)
        values[i] = ((Math.imul(i + 1, 2_654_435_761) >>> 8) / 2 ** 24 - 0.5) / 16;
    weights.set(name, values);
  }
  return weights;
}
const project = temporaryFolder();
const run = (name: string): string => join(project, 'runs', name);
const agentRl = async (...args: string[]): Promise<string> => {
  const { ended } = startProgram('agent-rl', args, project, { timeoutMs: 3_000_000 });
  return succeeded(await ended);
};
const settings =
  'train.learningRate=1e-5 checkpoint.every=1 checkpoint.keepLast=1 eval.before=false eval.after=false';
const train = (name: string, iterations: number) => {
  const all = `run.name=${name} train.iterations=2 ${settings}`.split(' ');
  const flags = `train --config train.yaml --max-iterations ${iterations}`.split(' ');
  return agentRl(...flags, ...all.flatMap((setting) => ['--set', setting]));
};

beforeAll(async () => {
  await makeAcmeProject(project);
  rmSync(join(project, 'model'), { recursive: true });
  await writeSmallModel(join(project, 'model'), config, weightsOf(config));
});

test('a checkpoint of 3.6 GB is written, verified and resumed to the weights of an uninterrupted run', async () => {
  expect(await train('cut', 1)).toMatch(/checkpoints {3}about 34\d\d MiB each/);
  const checkpoint = join(run('cut'), 'checkpoints', 'step-1');
  const bytes = (name: string): number => statSync(join(checkpoint, name)).size;
  expect(bytes('optimizer.safetensors')).toBeGreaterThan(2.3 * gigabyte);
  const both = bytes('optimizer.safetensors') + bytes('model.safetensors');
  expect(both).toBeGreaterThan(3.5 * gigabyte);
  expect(await corruption(checkpoint)).toBeUndefined();
  await agentRl('train', '--resume', run('cut'), '--max-iterations', '2');
  const { weightsSha256, sessions } = readJson(run('cut'), 'summary.json');
  expect(sessions).toBe(2);
  await train('whole', 2);
  expect(weightsSha256).toBe(readJson(run('whole'), 'summary.json')['weightsSha256']);
});
