import { expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import {
  initialParameters,
  parameter,
  parameterCount,
  parameterSpecs,
} from '#model/config/parameters.ts';
import { weightsSha256 } from '#model/weights/weights-sha256.ts';
import { tinyModels } from '#tests/support/tiny-models.ts';

const miniMind3: ModelConfig = {
  family: 'qwen3',
  vocabSize: 6400,
  hiddenSize: 768,
  layers: 8,
  heads: 8,
  kvHeads: 4,
  headDim: 96,
  intermediateSize: 2432,
  rmsNormEps: 1e-6,
  ropeTheta: 1e6,
  maxPositions: 32768,
  tiedEmbeddings: true,
  qkNorm: true,
  qkvBias: false,
  eosTokenIds: [2],
};

test('MiniMind-3 has 63,912,192 parameters and MiniMind-2 small 25,829,888', () => {
  expect(parameterCount(miniMind3)).toBe(63_912_192);
  const small = { hiddenSize: 512, kvHeads: 2, headDim: 64, intermediateSize: 1408, qkNorm: false };
  expect(parameterCount({ ...miniMind3, ...small, family: 'llama' })).toBe(25_829_888);
});

test('parameters have the names of Hugging Face, and matrices are [out, in]', () => {
  const shapes = Object.fromEntries(
    parameterSpecs(miniMind3).map(({ name, shape }) => [name, shape]),
  );
  expect(shapes['model.layers.7.self_attn.k_proj.weight']).toEqual([384, 768]);
  expect(shapes['model.layers.0.mlp.down_proj.weight']).toEqual([768, 2432]);
  expect(shapes['model.layers.0.self_attn.q_norm.weight']).toEqual([96]);
  expect(shapes['lm_head.weight']).toBeUndefined();
});

test('biases and a separate LM head are listed if the model has them', () => {
  const config = tinyModels[
    'Qwen2 with biases, four query heads per key head and its own LM head'
  ] as ModelConfig;
  const names = parameterSpecs(config).map(({ name }) => name);
  expect(names).toContain('model.layers.0.self_attn.v_proj.bias');
  expect(names).not.toContain('model.layers.0.self_attn.o_proj.bias');
  expect(names).not.toContain('model.layers.0.self_attn.q_norm.weight');
  expect(names.at(-1)).toBe('lm_head.weight');
});

test('fresh weights are normal with deviation 0.02, norms are 1, and the seed decides all', () => {
  const small = { vocabSize: 200, hiddenSize: 32, layers: 1, intermediateSize: 8 };
  const config = { ...miniMind3, ...small, heads: 4, headDim: 16 };
  const weights = initialParameters(config, new KeyedRng(7));
  const embedding = [...(weights.get('model.embed_tokens.weight') ?? [])];
  const deviation = Math.sqrt(
    embedding.reduce((sum, value) => sum + value ** 2, 0) / embedding.length,
  );
  // 6,400 draws: the standard error of the deviation is 0.02 / sqrt(12,800) = 0.00018.
  expect(Math.abs(deviation - 0.02)).toBeLessThan(0.0009);
  expect(new Set(weights.get('model.norm.weight'))).toEqual(new Set([1]));
  const again = (seed: number): string =>
    weightsSha256(initialParameters(config, new KeyedRng(seed)));
  expect(again(7)).toBe(weightsSha256(weights));
  expect(again(8)).not.toBe(again(7));
});

test('a missing tensor is named', () => {
  expect(() => parameter({}, 'model.norm.weight')).toThrow('"model.norm.weight"');
});
