import { beforeAll, expect, test } from '@jest/globals';

import { tf } from '#agent_rl/engine/ops.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { lmHead } from '#model/decoder/decoder-block.ts';
import { decoderHidden, seenByAllBehind } from '#model/decoder/decoder.ts';
import { parameterSpecs } from '#model/config/parameters.ts';
import { ropeTablesUpTo } from '#model/decoder/rope.ts';
import {
  type InductionOptions,
  inductionParameters,
} from '#scripts/starter-model/induction-weights.ts';
import { searchStarterConfig } from '#scripts/starter-model/starters.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const narrowConfig = {
  ...searchStarterConfig,
  vocabSize: 60,
  hiddenSize: 128,
  layers: 3,
  intermediateSize: 8,
};

const everyToken = Array.from({ length: narrowConfig.vocabSize }, (_, token) => token);

/** Which of some tokens fresh weights hold likeliest after a text. */
function likeliestAfter(
  text: readonly number[],
  of = everyToken,
  options: InductionOptions = {},
  config = narrowConfig,
) {
  const weights = inductionParameters(config, new KeyedRng('test'), options);
  const parameters = Object.fromEntries(
    parameterSpecs(config).map(({ name, shape }) => [
      name,
      tf.tensor(weights.get(name) ?? new Float32Array(), [...shape]),
    ]),
  );
  const { cos, sin } = ropeTablesUpTo(config, text.length);
  const hidden = decoderHidden(config, parameters, {
    tokens: tf.tensor2d([...text], [1, text.length], 'int32'),
    cos: tf.tensor2d(cos, [text.length, config.headDim]),
    sin: tf.tensor2d(sin, [text.length, config.headDim]),
    seenUpTo: tf.tensor2d(seenByAllBehind(text.length), [1, text.length], 'int32'),
  });
  const last = tf.slice(hidden, [text.length - 1, 0], [1, config.hiddenSize]);
  const logits = tf.matMul(last, lmHead({ config, parameters }), false, true);
  const among = tf.gather(tf.reshape(logits, [-1]), tf.tensor1d(of, 'int32'));
  return of[tf.argMax(among).dataSync()[0] ?? -1] ?? -1;
}

test('the model continues a text as it continued before', () => {
  const before = [11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25];
  expect(likeliestAfter([...before, 13, 14])).toBe(15);
  expect(likeliestAfter([...before, 19, 20, 21])).toBe(22);
});

test('the model prefers the place whose preceding token also agrees', () => {
  const before = [30, 5, 41, 31, 32, 5, 42, 33, 34, 5, 43, 35];
  const followed = [41, 42, 43];
  for (const [at, token] of [30, 32, 34].entries())
    expect(likeliestAfter([...before, token, 5], followed)).toBe(followed[at]);
});

test('the model, comparing four tokens, prefers the place whose two earlier tokens also agree', () => {
  const before = [30, 8, 5, 6, 41, 31, 32, 9, 5, 6, 42, 33, 34, 10, 5, 6, 43, 35];
  const followed = [41, 42, 43];
  for (const [at, earlier] of [
    [30, 8],
    [32, 9],
    [34, 10],
  ].entries())
    expect(likeliestAfter([...before, ...earlier, 5, 6], followed, { backs: 4 })).toBe(
      followed[at],
    );
});

const recalling = { noteWidth: 31, recalls: true };

test('recalling heads do not disturb copying', () => {
  const wide = { ...searchStarterConfig, vocabSize: 60, intermediateSize: 8 };
  const before = [30, 5, 41, 31, 32, 5, 42, 33, 34, 5, 43, 35];
  expect(likeliestAfter([...before, 30, 5], [41, 42, 43], recalling, wide)).toBe(41);
  expect(likeliestAfter([...before, 34, 5], [41, 42, 43], recalling, wide)).toBe(43);
});

test('a model that is too small is refused', () => {
  const narrow = { ...narrowConfig, hiddenSize: 64 };
  expect(() => inductionParameters(narrow, new KeyedRng('test'))).toThrow(RangeError);
  expect(() => inductionParameters(narrowConfig, new KeyedRng('test'), recalling)).toThrow(
    RangeError,
  );
});
