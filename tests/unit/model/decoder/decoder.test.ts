import { beforeAll, describe, expect, test } from '@jest/globals';

import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import type { Engine, ProgramBody, TensorSpec } from '#agent_rl/engine/engine.ts';
import { tf, tokenLogProbs, type Tensor } from '#agent_rl/engine/ops.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import { lmHead } from '#model/decoder/decoder-block.ts';
import { decoderHidden, seenByAllBehind } from '#model/decoder/decoder.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { parameterSpecs } from '#model/config/parameters.ts';
import { ropeTablesUpTo } from '#model/decoder/rope.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { request } from '#tests/support/generation-request.ts';
import { plainLogits, plainLogProbs } from '#tests/support/plain-decoder.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

const compiled = cpuEngine();
let eager: Engine;

beforeAll(async () => {
  eager = await EagerEngine.open('cpu');
});

const tokens = [1, 5, 7, 3, 9, 0, 2, 4];
const other = [4, 4, 8, 10];

/** The weights of a model and two sequences of four tokens, as inputs of a program. */
function inputsOf(config: ModelConfig) {
  const { cos, sin } = ropeTablesUpTo(config, 4);
  const given = {
    tokens: [[2, 4], Int32Array.from(tokens)],
    cos: [[4, config.headDim], cos],
    sin: [[4, config.headDim], sin],
    seenUpTo: [[1, 4], seenByAllBehind(4)],
    targets: [[8], Int32Array.from(tokens.toReversed())],
  } as const;
  const specs: TensorSpec[] = parameterSpecs(config).map(({ name, shape }) => ({
    name,
    shape,
    dtype: 'float32',
  }));
  for (const [name, [shape, values]] of Object.entries(given))
    specs.push({ name, shape, dtype: values instanceof Int32Array ? 'int32' : 'float32' });
  const values = Object.entries(given).map(([name, [, one]]) => [name, one] as const);
  return { specs, data: Object.fromEntries([...tinyWeights(config), ...values]) };
}

const hiddenOf = (
  config: ModelConfig,
  parameters: Record<string, Tensor>,
  given: Record<string, Tensor>,
) =>
  decoderHidden(config, parameters, {
    tokens: given['tokens']!,
    cos: given['cos']!,
    sin: given['sin']!,
    seenUpTo: given['seenUpTo']!,
  });

const logitsOf =
  (config: ModelConfig): ProgramBody =>
  (given) => ({
    logits: tf.matMul(
      hiddenOf(config, given, given),
      lmHead({ config, parameters: given }),
      false,
      true,
    ),
  });

const gradientsOf =
  (config: ModelConfig): ProgramBody =>
  (given) => {
    const names = parameterSpecs(config).map(({ name }) => name);
    const loss = (...weights: Tensor[]): Tensor => {
      const parameters = Object.fromEntries(names.map((name, i) => [name, weights[i]!]));
      const head = lmHead({ config, parameters });
      const hidden = hiddenOf(config, parameters, given);
      return tf.sum(tokenLogProbs(hidden, head, given['targets']!, { temperature: 1 }).logProbs);
    };
    const found = tf.grads(loss)(names.map((name) => given[name]!));
    return Object.fromEntries(found.map((gradient, i) => [names[i]!, gradient]));
  };

const largestGap = (a: ArrayLike<number>, b: readonly number[]): number =>
  Math.max(...b.map((value, i) => Math.abs(value - a[i]!)));

describe.each(Object.entries(tinyModels))('The model %s', (_, config) => {
  const weights = tinyWeights(config);
  const run = async (engine: Engine, body: ProgramBody) => {
    const { specs, data } = inputsOf(config);
    return (await engine.compile(specs, body)).run(data);
  };

  test('gives the same logits as a decoder of plain loops', async () => {
    const rows = [tokens.slice(0, 4), tokens.slice(4)];
    const expected = rows.flatMap((row) => plainLogits(config, weights, row)).flat();
    const { logits } = await run(eager, logitsOf(config));
    expect(logits).toHaveLength(expected.length);
    expect(largestGap(logits!, expected)).toBeLessThan(1e-5);
  });

  test('has the same gradients compiled as eager, tensor by tensor', async () => {
    const actual = await run(compiled, gradientsOf(config));
    const expected = await run(eager, gradientsOf(config));
    expect(Object.keys(actual)).toHaveLength(weights.size);
    for (const [name, values] of Object.entries(expected)) {
      const norm = Math.hypot(...values);
      expect(norm).toBeGreaterThan(0);
      const gaps = values.map((value, i) => value - actual[name]![i]!);
      expect(Math.hypot(...gaps) / norm).toBeLessThan(1e-5);
    }
  });

  test('scores a padded batch like each sequence alone', async () => {
    const learner = new LocalLearner(compiled, config, weights, { microBatchTokens: 64 });
    const batch = [tokens, other].map((row) => Int32Array.from(row));
    const scored = await learner.forward(batch, { temperature: 1, which: 'policy' });
    for (const [i, row] of [tokens, other].entries())
      expect(largestGap(scored[i]!, plainLogProbs(config, weights, row))).toBeLessThan(1e-5);
    await learner.close();
  });

  test('draws token by token with a cache by the log-probabilities of one pass', async () => {
    const generator = new LocalGenerator(new DecoderPrograms(compiled, config, 48), {
      rows: 2,
      maxContextTokens: 48,
    });
    await generator.setWeights(weights, 1);
    const drawing = [tokens, other].map((prompt, i) =>
      generator.generate(request(`e${i}`, { tokens: prompt, maxTokens: 20 })),
    );
    for (const [i, drawn] of (await Promise.all(drawing)).entries()) {
      const prompt = [tokens, other][i]!;
      const expected = plainLogProbs(config, weights, [...prompt, ...drawn.tokens]);
      expect(drawn.logProbs).toHaveLength(20);
      expect(largestGap(drawn.logProbs, expected.slice(prompt.length))).toBeLessThan(1e-5);
    }
  });
});
