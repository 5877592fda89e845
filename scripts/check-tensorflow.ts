import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { KeyedRng } from '../agent_rl/core/keyed-rng.ts';
import { batchOf } from '../agent_rl/core/services/batch.ts';
import { EagerEngine } from '../agent_rl/engine/eager-engine.ts';
import type { Engine } from '../agent_rl/engine/engine.ts';
import { openEngine } from '../agent_rl/engine/open-engine.ts';
import { LocalLearner } from '../agent_rl/learner/local-learner.ts';
import type { ModelConfig } from '../model/config/architecture.ts';
import { initialParameters } from '../model/config/parameters.ts';
import { benchModel, tinyModel, type BatchSize } from './bench/bench-model.ts';
import { registerTensorflow } from './check-tensorflow/build-binding.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/*
 * Checks that one training step has the same gradients run eagerly on TensorFlow and compiled by ONNX Runtime, per
 * tensor ||difference|| / ||reference||: `npm run check:tensorflow -- [--python FILE] [--wheel FILE] [--tiny]`.
 * Needs g++, Node's headers, npm and Python with pip; everything it fetches is thrown away.
 */
const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    wheel: { type: 'string' },
    tiny: { type: 'boolean', default: false },
  },
});
const tolerance = 1e-4;
const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** The loss of a batch of random tokens, and its gradient by parameter. */
async function stepOn(engine: Engine, config: ModelConfig, { sequences, length }: BatchSize) {
  const random = new KeyedRng(2, 'bench');
  const data = Array.from({ length: sequences }, () => ({
    tokens: Int32Array.from({ length }, () => random.integer(config.vocabSize)),
    weights: new Float32Array(length).fill(1 / (sequences * (length - 1))).fill(0, 0, 1),
    advantages: new Float32Array(length),
    oldLogProbs: new Float32Array(length),
  }));
  const parameters = initialParameters(config, new KeyedRng(1, 'bench'));
  const learner = new LocalLearner(engine, config, parameters, {
    microBatchTokens: sequences * length,
  });
  const step = () => learner.forwardBackward(batchOf(data), { name: 'cross_entropy' });
  await step(); // the first run loads and allocates
  await learner.discardGradients();
  const started = performance.now();
  const { loss } = await step();
  const seconds = (performance.now() - started) / 1000;
  const gradientOf = (name: string) => Float32Array.from(learner.gradientOf(name)!);
  const gradients = new Map([...parameters.keys()].map((name) => [name, gradientOf(name)]));
  await learner.close();
  return { loss, gradients, seconds };
}

type Gradients = ReadonlyMap<string, Float32Array>;

const norm = (vector: Float32Array, other?: Float32Array): number => {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i]! - (other?.[i] ?? 0)) ** 2;
  return Math.sqrt(sum);
};

/** Largest relative difference over the tensors. */
function compare(eager: Gradients, traced: Gradients): { worst: number; tensor: string } {
  let found = { worst: 0, tensor: '' };
  for (const [tensor, reference] of traced) {
    const worst = norm(eager.get(tensor)!, reference) / norm(reference);
    if (!(worst <= found.worst)) found = { worst, tensor };
  }
  return found;
}

await inTemporaryFolder('agent-rl-tensorflow', async (folder) => {
  const { python, wheel } = values;
  await registerTensorflow({ folder, python, wheel, note: print });
  const eager = await EagerEngine.open('tensorflow');
  const traced = await openEngine({ device: 'cpu', threads: availableParallelism() });
  const cases: [string, ModelConfig, BatchSize][] = [
    ['tiny', tinyModel, { sequences: 2, length: 16 }],
    ['25.8 M', benchModel, { sequences: 8, length: 256 }],
  ];
  for (const [name, config, size] of values.tiny ? cases.slice(0, 1) : cases) {
    const onTensorflow = await stepOn(eager, config, size);
    const onOnnx = await stepOn(traced, config, size);
    const { worst, tensor } = compare(onTensorflow.gradients, onOnnx.gradients);
    const agrees = worst <= tolerance;
    print(
      `${name}: largest relative difference ${worst.toExponential(2)} (${tensor}), allowed ${tolerance}: ${agrees ? 'agrees' : 'DIFFERS'}; ` +
        `loss ${onTensorflow.loss} and ${onOnnx.loss}; eager ${onTensorflow.seconds.toFixed(3)} s, traced ${onOnnx.seconds.toFixed(3)} s`,
    );
    if (!agrees) process.exitCode = 1;
  }
  await traced.close();
});
