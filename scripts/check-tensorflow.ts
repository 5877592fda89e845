import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { EagerEngine } from '../agent_rl/engine/eager-engine.ts';
import type { Engine } from '../agent_rl/engine/engine.ts';
import { openEngine } from '../agent_rl/engine/open-engine.ts';
import type { ModelConfig } from '../model/config/architecture.ts';
import { benchModel, tinyModel, type BatchSize } from './bench/bench-model.ts';
import { TrainStep } from './bench/train-step.ts';
import { registerTensorflow } from './check-tensorflow/build-binding.ts';

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
const say = (text: string): void => void process.stdout.write(`${text}\n`);

interface StepRun {
  loss: number;
  seconds: number;
  gradients: ReadonlyMap<string, Float32Array>;
}

async function stepOn(engine: Engine, config: ModelConfig, size: BatchSize): Promise<StepRun> {
  const step = await TrainStep.open(engine, config, size);
  await step.gradients(); // the first run loads and allocates
  const started = performance.now();
  const once = await step.freshGradients();
  const seconds = (performance.now() - started) / 1000;
  await step.close();
  return { ...once, seconds };
}

const norm = (vector: Float32Array, other?: Float32Array): number => {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i]! - (other?.[i] ?? 0)) ** 2;
  return Math.sqrt(sum);
};

/** Largest relative difference over the tensors. */
function compare(eager: StepRun, traced: StepRun): { worst: number; tensor: string } {
  let found = { worst: 0, tensor: '' };
  for (const [tensor, reference] of traced.gradients) {
    const worst = norm(eager.gradients.get(tensor)!, reference) / norm(reference);
    if (!(worst <= found.worst)) found = { worst, tensor };
  }
  return found;
}

const folder = await mkdtemp(path.join(tmpdir(), 'agent-rl-tensorflow-'));
try {
  const { python, wheel } = values;
  await registerTensorflow({ folder, python, ...(wheel && { wheel }), note: say });
  const eager = await EagerEngine.open('tensorflow');
  const traced = await openEngine({ device: 'cpu', threads: availableParallelism() });
  const cases: readonly [string, ModelConfig, BatchSize][] = [
    ['tiny', tinyModel, { sequences: 2, length: 16 }],
    ...(values.tiny
      ? []
      : ([['25.8 M', benchModel, { sequences: 8, length: 256 }]] as [
          string,
          ModelConfig,
          BatchSize,
        ][])),
  ];
  for (const [name, config, size] of cases) {
    const [onTensorflow, onOnnx] = [
      await stepOn(eager, config, size),
      await stepOn(traced, config, size),
    ];
    const { worst, tensor } = compare(onTensorflow, onOnnx);
    const agrees = worst <= tolerance;
    say(
      `${name}: largest relative difference ${worst.toExponential(2)} (${tensor}), allowed ${tolerance}: ${agrees ? 'agrees' : 'DIFFERS'}; ` +
        `loss ${onTensorflow.loss} and ${onOnnx.loss}; eager ${onTensorflow.seconds.toFixed(3)} s, traced ${onOnnx.seconds.toFixed(3)} s`,
    );
    if (!agrees) process.exitCode = 1;
  }
  await traced.close();
} finally {
  await rm(folder, { recursive: true });
}
