import { beforeAll, describe, expect, test } from '@jest/globals';

import { tf, tokenLogProbs, type Tensor } from '#agent_rl/engine/ops.ts';
import { lmHead } from '#model/decoder/decoder-block.ts';
import { decoderHidden, seenByAllBehind } from '#model/decoder/decoder.ts';
import { decodeStep } from '#model/decoder/decode-step.ts';
import { prefill } from '#model/decoder/prefill.ts';
import type { KeysAndValues } from '#model/decoder/step-attention.ts';
import { windowPlaces, windowsOf, windowTokens } from '#model/decoder/windows.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { parameterSpecs } from '#model/config/parameters.ts';
import { ropeTables, ropeTablesUpTo } from '#model/decoder/rope.ts';
import { logSoftmax, plainLogProbs, plainLogits } from '#tests/support/plain-decoder.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const first = [1, 5, 7, 3, 9, 0, 2];
const second = [4, 4, 8, 10];

function tensors(config: ModelConfig, weights: Map<string, Float32Array>): Record<string, Tensor> {
  return Object.fromEntries(
    parameterSpecs(config).map(({ name, shape }) => [
      name,
      tf.tensor(weights.get(name) as Float32Array, [...shape]),
    ]),
  );
}

function sequenceInputs(
  config: ModelConfig,
  sequences: readonly (readonly number[])[],
  length: number,
) {
  const { cos, sin } = ropeTablesUpTo(config, length);
  const padded = sequences.flatMap((tokens) => [
    ...tokens,
    ...Array.from({ length: length - tokens.length }, () => 0),
  ]);
  return {
    tokens: tf.tensor2d(padded, [sequences.length, length], 'int32'),
    cos: tf.tensor2d(cos, [length, config.headDim]),
    sin: tf.tensor2d(sin, [length, config.headDim]),
    seenUpTo: tf.tensor2d(seenByAllBehind(length), [1, length], 'int32'),
  };
}

/** Log-probabilities as training computes them, of two sequences in one padded batch. */
async function trainingLogProbs(
  config: ModelConfig,
  weights: Map<string, Float32Array>,
): Promise<number[][]> {
  const parameters = tensors(config, weights);
  const length = first.length + 2;
  const inputs = sequenceInputs(config, [first, second], length);
  const hidden = decoderHidden(config, parameters, inputs);
  const targets = [first, second].flatMap((tokens) =>
    Array.from({ length }, (_, t) => tokens[t + 1] ?? 0),
  );
  const head = lmHead({ config, parameters });
  const { logProbs } = tokenLogProbs(hidden, head, tf.tensor1d(targets, 'int32'), {
    temperature: 1,
  });
  const flat = [...(await logProbs.data())];
  return [first, second].map((tokens, b) =>
    [0].concat(flat.slice(b * length, b * length + tokens.length - 1)),
  );
}

/** Log-probabilities as generation computes them: prompts of 3 and 2 tokens prefilled, the rest one by one. */
async function decodedLogProbs(
  config: ModelConfig,
  weights: Map<string, Float32Array>,
): Promise<number[][]> {
  const { kvHeads, headDim } = config;
  const parameters = tensors(config, weights);
  const sequences = [first, second];
  // All positions are of the first window.
  const capacity = windowTokens;
  const size = kvHeads * capacity * headDim;
  const blank = () => new Float32Array(sequences.length * size);
  const caches = Array.from({ length: config.layers }, () => ({ keys: blank(), values: blank() }));
  const lengths = [2, 1];
  for (const [row, tokens] of sequences.entries()) {
    // The last token of the prompt is fed to the decode step; one more of padding must change nothing.
    const known = lengths[row] as number;
    const inputs = sequenceInputs(config, [tokens.slice(0, known)], known + 1);
    for (const [layer, cache] of prefill(config, parameters, inputs).entries()) {
      for (const part of ['keys', 'values'] as const) {
        const data = await cache[part].data<'float32'>();
        for (let head = 0; head < kvHeads; head++) {
          const from = head * (known + 1) * headDim;
          const entries = data.subarray(from, from + known * headDim);
          caches[layer]?.[part].set(entries, row * size + head * capacity * headDim);
        }
      }
    }
  }
  const result = sequences.map((tokens, row) =>
    Array.from({ length: (lengths[row] as number) + 1 }, () => 0),
  );
  while (sequences.some((tokens, row) => (lengths[row] as number) < tokens.length - 1)) {
    const { cos, sin } = ropeTables(config, lengths);
    const tokens = sequences.map((all, row) => all[lengths[row]!] ?? 0);
    const recent: KeysAndValues[] = caches.map(({ keys, values }) => ({
      keys: tf.tensor4d(keys, [2, kvHeads, capacity, headDim]),
      values: tf.tensor4d(values, [2, kvHeads, capacity, headDim]),
    }));
    const nothing = tf.zeros([2, kvHeads, 16, headDim]);
    const { logits, fresh } = decodeStep(config, parameters, {
      tokens: tf.tensor1d(tokens, 'int32'),
      cos: tf.tensor2d(cos, [2, headDim]),
      sin: tf.tensor2d(sin, [2, headDim]),
      starts: tf.tensor1d(windowsOf(lengths).starts),
      offsets: tf.tensor1d(windowsOf(lengths).offsets),
      places: tf.tensor1d(windowPlaces(lengths, { kvHeads, count: 1 }), 'int32'),
      positions: tf.range(0, 16),
      past: caches.map(() => ({ keys: nothing, values: nothing })),
      recent,
    });
    for (const [layer, cache] of fresh.entries()) {
      for (const part of ['keys', 'values'] as const) {
        const data = await cache[part].data<'float32'>();
        for (let entry = 0; entry < 2 * kvHeads; entry++) {
          const row = Math.floor(entry / kvHeads);
          const at = (entry * capacity + (lengths[row] as number)) * headDim;
          caches[layer]?.[part].set(data.subarray(entry * headDim, (entry + 1) * headDim), at);
        }
      }
    }
    const rows = (await logits.array()) as number[][];
    for (const [row, all] of sequences.entries()) {
      lengths[row] = (lengths[row] as number) + 1;
      const next = all[lengths[row] ?? 0];
      if (next !== undefined) result[row]?.push(logSoftmax(rows[row] as number[])[next] as number);
    }
  }
  return result;
}

const largestGap = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, i) => Math.abs(value - (b[i] as number))));

describe.each(Object.entries(tinyModels))('The model %s', (_, config) => {
  const weights = tinyWeights(config);
  const oracle = [first, second].map((tokens) => plainLogProbs(config, weights, tokens));

  test('gives the same logits as a decoder of plain loops', async () => {
    const parameters = tensors(config, weights);
    const hidden = decoderHidden(config, parameters, sequenceInputs(config, [first], first.length));
    const logits = tf.matMul(hidden, lmHead({ config, parameters }), false, true);
    const expected = plainLogits(config, weights, first).flat();
    expect(largestGap([...(await logits.data())], expected)).toBeLessThan(1e-5);
  });

  test('scores a padded batch like each sequence alone', async () => {
    const logProbs = await trainingLogProbs(config, weights);
    for (const [b, expected] of oracle.entries()) {
      expect(largestGap(logProbs[b] as number[], expected)).toBeLessThan(1e-5);
    }
  });

  test('gives the same log-probabilities token by token with a cache as in one pass', async () => {
    const training = await trainingLogProbs(config, weights);
    const decoding = await decodedLogProbs(config, weights);
    for (const [b, logProbs] of decoding.entries()) {
      const prompt = b === 0 ? 3 : 2;
      expect(logProbs).toHaveLength((training[b] as number[]).length);
      expect(
        largestGap(logProbs.slice(prompt), (training[b] as number[]).slice(prompt)),
      ).toBeLessThan(2e-6);
    }
  });
});
