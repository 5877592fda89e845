import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { LossSpec } from '#agent_rl/core/services/learner.ts';
import type { TensorData, TensorSpec } from '#agent_rl/engine/engine.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { type BatchShape, kindOf, sizesOf } from '#agent_rl/learner/batch-shape.ts';
import {
  compileScoreProgram,
  compileTrainProgram,
  rowsAtOnce,
  trainBody,
} from '#agent_rl/learner/train-program.ts';
import { treeLayout } from '#agent_rl/learner/tree-layout.ts';
import type { Adapter } from '#model/config/architecture.ts';
import type { Weights } from '#model/config/parameters.ts';
import { wholeTinyModel as whole, withTinyAdapter } from '#tests/support/adapted-tiny-model.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { policyLossSpec } from '#tests/support/policy-loss-spec.ts';
import { tinyAdapter } from '#tests/support/tiny-adapter.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();

const losses = {
  'cross entropy': { name: 'cross_entropy' },
  'a KL term': policyLossSpec({ temperature: 0.9, kl: { kind: 'k3', weight: 0.1 } }),
  'a loss per sequence': policyLossSpec({ type: 'gspo' }),
  'an entropy bonus': policyLossSpec({ entropyBonus: 0.1 }),
  distillation: policyLossSpec({ temperature: 0.9, distill: { topK: 3, weight: 0.5 } }),
} as const satisfies Record<string, LossSpec>;

const adapter: Adapter = { ...tinyAdapter, dropout: 0.25 };
const dropping = withTinyAdapter(whole, adapter);
const all = 2 ** 28;
const ofSixteen = 4 * tinyModelConfig.vocabSize * 16;

describe('A program for all sizes', () => {
  test.each([
    ['cross entropy', whole, 'none', all],
    ['a KL term', whole, 'blocks', all],
    ['a loss per sequence', whole, 'none', ofSixteen],
    ['an entropy bonus', whole, 'none', all],
    ['a KL term', dropping, 'none', all],
    ['distillation', whole, 'none', all],
    ['distillation', dropping, 'blocks', ofSixteen],
  ] as const)(
    'equals, bit for bit, a program of their sizes: %s',
    async (name, { config, weights }, recompute, logitBytes) => {
      const loss = losses[name];
      const memory = { recompute, logitBytes };
      for (const shape of [
        { sequences: 3, length: 24, trained: 40 },
        {
          sequences: 1,
          length: 256,
          trained: 32,
          trees: { sequences: 5, trained: 44, keys: 184 },
        },
      ]) {
        const { specs, body } = await trainBody(config, { shape, loss, memory });
        const keepRecomputation = recompute === 'blocks';
        const closed = await engine.compile(specs, body, { keepRecomputation });
        const kind = kindOf(shape, rowsAtOnce(memory, config, loss));
        const open = await compileTrainProgram(engine, config, { kind, loss, memory });
        const inputs = inputsOf(specs, { ...shape, weights });
        const sizes = sizesOf(shape, kind);
        expect(await open.run(inputs, { sizes })).toEqual(await closed.run(inputs));
        await Promise.all([closed.dispose(), open.dispose()]);
      }
    },
  );

  // On some processors the bits equal unfused operations too.
  test('declares many rows to the engine, which then fuses as for fixed sizes', async () => {
    const told: unknown[] = [];
    class NotingEngine extends OnnxEngine {
      override compileSized(...[of, names, options]: Parameters<OnnxEngine['compileSized']>) {
        told.push(options?.manyRows);
        return super.compileSized(of, names, options);
      }
    }
    const noting = new NotingEngine({ device: 'cpu', threads: 1 });
    const kind = kindOf({ sequences: 3, length: 24, trained: 40 }, Infinity);
    const memory = { recompute: 'none', logitBytes: all } as const;
    await compileTrainProgram(noting, whole.config, { kind, memory, loss: losses['a KL term'] });
    await compileScoreProgram(noting, whole.config, { kind, memory, temperature: 1 });
    await noting.close();
    expect(told).toEqual([true, true]);
  });
});

const limits: Readonly<Record<string, (shape: BatchShape) => number>> = {
  tokens: () => tinyModelConfig.vocabSize,
  targets: () => tinyModelConfig.vocabSize,
  teacherIds: () => tinyModelConfig.vocabSize,
  rows: ({ sequences, length }) => sequences * length,
  predictions: ({ trained }) => trained,
};

/** Inputs that make sense, drawn. */
function inputsOf(
  specs: readonly TensorSpec[],
  { weights, ...shape }: BatchShape & { weights: Weights },
): Record<string, TensorData> {
  const rng = new KeyedRng(5, 'inputs');
  // Each 72 tokens from the start, and whatever follows.
  const parents = Int32Array.from({ length: 256 }, (_, at) => (at % 72 === 0 ? -1 : at - 1));
  const { layout } = treeLayout(parents, 256);
  const places = Int32Array.from(parents, (_, at) => at % 72);
  const drawn = ({ name, shape: own, dtype }: TensorSpec): TensorData => {
    const known = weights.get(name);
    if (known !== undefined) return known;
    const count = own.reduce((product, size) => product * size, 1);
    const laid = ({ ...layout, places } as Readonly<Record<string, Int32Array>>)[name];
    if (laid !== undefined) return laid.subarray(0, count);
    if (dtype === 'int32')
      return Int32Array.from({ length: count }, () => rng.integer(limits[name]!(shape)));
    return Float32Array.from({ length: count }, () => rng.normal());
  };
  return Object.fromEntries(specs.map((spec) => [spec.name, drawn(spec)]));
}
