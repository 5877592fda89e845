import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { readModelConfig, writeModelConfig } from '#model/config/model-config.ts';
import * as parameters from '#model/config/parameters.ts';
import { weightsSha256 } from '#model/weights/weights-sha256.ts';

const qwen3 = {
  model_type: 'qwen3',
  architectures: ['Qwen3ForCausalLM'],
  vocab_size: 6400,
  hidden_size: 768,
  num_hidden_layers: 8,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 96,
  intermediate_size: 2432,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  max_position_embeddings: 32768,
  tie_word_embeddings: true,
  bos_token_id: 1,
  eos_token_id: 2,
};

test('MiniMind-3 is read as it is published', () => {
  expect(readModelConfig(qwen3)).toEqual({
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
    bosTokenId: 1,
    eosTokenIds: [2],
  });
});

test('head_dim defaults to 128 for Qwen3, as in Transformers, and to a share of the width for others', () => {
  const { head_dim: _left, ...json } = qwen3;
  expect(readModelConfig(json).headDim).toBe(128);
  expect(readModelConfig({ ...json, head_dim: null }).headDim).toBe(96);
  for (const model_type of ['qwen2', 'llama', 'minimind'])
    expect(readModelConfig({ ...json, model_type }).headDim).toBe(96);
});

test('a sliding window that is named but not used is ignored', () => {
  const json = { ...qwen3, model_type: 'qwen2', sliding_window: 4096, max_window_layers: 21 };
  const plain = readModelConfig({ ...qwen3, model_type: 'qwen2' });
  expect(readModelConfig({ ...json, use_sliding_window: false })).toEqual(plain);
  // transformers takes the layers below max_window_layers, all eight of them, as full.
  expect(readModelConfig({ ...json, use_sliding_window: true })).toEqual(plain);
  const layer_types = Array<string>(8).fill('full_attention');
  expect(readModelConfig({ ...json, layer_types })).toEqual(plain);
});

const ramp = { betaFast: 32, betaSlow: 1, truncate: true };
const original = { factor: 16, originalPositions: 2048, attentionFactor: 1 };
const extended = { type: 'yarn', ...original, ...ramp } as const;

test("MiniMind's inference_rope_scaling becomes YaRN with factor 16 from 2048 positions", () => {
  const json = { ...qwen3, model_type: 'minimind', inference_rope_scaling: true };
  expect(readModelConfig(json).ropeScaling).toEqual(extended);
  expect(readModelConfig({ ...json, max_position_embeddings: 2048 }).ropeScaling).toBeUndefined();
});

const turns = { lowFrequencyTurns: 1, highFrequencyTurns: 4 };

test.each([
  { type: 'linear', factor: 2.5 },
  { type: 'llama3', factor: 8, ...turns, originalPositions: 8192 },
  extended,
  { ...extended, attentionFactor: 0.1 * Math.log(16) + 1, truncate: false, betaFast: 20 },
] as const)('the rotary scaling %j is read back as it was written', (ropeScaling) => {
  const config = { ...readModelConfig(qwen3), ropeScaling };
  const written: unknown = JSON.parse(JSON.stringify(writeModelConfig(config, 'float32')));
  expect(readModelConfig(written)).toEqual(config);
});

test.each([
  ['qwen2', {}, [], { qkNorm: false, qkvBias: true }],
  ['qwen2', { attention_bias: true }, [], { qkvBias: true }],
  ['llama', {}, [], { qkNorm: false, qkvBias: false }],
  ['minimind', {}, ['q_norm'], { family: 'qwen3', qkNorm: true }],
  ['minimind', {}, ['q_proj'], { family: 'llama', qkNorm: false }],
  ['qwen3', { rope_parameters: { rope_theta: 7 } }, [], { ropeTheta: 7 }],
  ['qwen3', { eos_token_id: [2, 0] }, [], { eosTokenIds: [2, 0] }],
])('a model of type %s with %j and the tensors %j is read', (model_type, more, parts, read) => {
  const names = parts.map((part) => `model.layers.0.self_attn.${part}.weight`);
  expect(readModelConfig({ ...qwen3, model_type, ...more }, 'c', names)).toMatchObject(read);
});

describe('The parameters', () => {
  const miniMind3 = readModelConfig(qwen3);

  test('number 63,912,192 in MiniMind-3 and 25,829,888 in MiniMind-2 small', () => {
    expect(parameters.parameterCount(miniMind3)).toBe(63_912_192);
    const size = { hiddenSize: 512, kvHeads: 2, headDim: 64, intermediateSize: 1408 };
    const small = { ...miniMind3, ...size, qkNorm: false, family: 'llama' } as const;
    expect(parameters.parameterCount(small)).toBe(25_829_888);
  });

  test('start normal with deviation 0.02, norms as 1, and the seed decides all', () => {
    const size = { vocabSize: 200, hiddenSize: 32, layers: 1, intermediateSize: 8 };
    const config = { ...miniMind3, ...size, heads: 4, headDim: 16 };
    const made = (seed: number) => parameters.initialParameters(config, new KeyedRng(seed));
    const embedding = [...(made(7).get('model.embed_tokens.weight') ?? [])];
    const squares = embedding.reduce((sum, value) => sum + value ** 2, 0);
    // 6,400 draws: the standard error of the deviation is 0.02 / sqrt(12,800) = 0.00018.
    expect(Math.abs(Math.sqrt(squares / embedding.length) - 0.02)).toBeLessThan(0.0009);
    expect(new Set(made(7).get('model.norm.weight'))).toEqual(new Set([1]));
    expect(weightsSha256(made(7))).toBe(weightsSha256(made(7)));
    expect(weightsSha256(made(8))).not.toBe(weightsSha256(made(7)));
  });

  test('name the missing one', () => {
    expect(() => parameters.parameter({}, 'model.norm.weight')).toThrow('"model.norm.weight"');
  });
});

describe('An unsupported model', () => {
  const named = (model_type: string, more = {}) => ({ model_type, ...more });
  const scaled = (rope_scaling: object) => ({ rope_scaling });
  const longrope = { rope_type: 'longrope', rope_theta: 1e4, long_factor: [1] };
  const yarn = { type: 'yarn', factor: 2, beta_fast: 1, beta_slow: 32 };
  const llama3 = { type: 'llama3', factor: 2, low_freq_factor: 4, high_freq_factor: 1 };
  test.each([
    ['another architecture', named('mamba', { architectures: ['M'] }), /"mamba".*Supported: qwen3/],
    ['experts by name', named('q_moe', { architectures: ['QMoe'] }), /QMoe is a mixture of exp/],
    ['experts by its flag', named('minimind', { use_moe: true }), /use_moe is true/],
    ['too many layers', { num_hidden_layers: 9_999_999 }, /num_hidden_layers is 9999999/],
    ['a sliding window', { use_sliding_window: true, max_window_layers: 4 }, /sliding-window/],
    ['layers of another type', { layer_types: ['sliding_attention'] }, /sliding-window/],
    ['a dynamic scaling', scaled({ rope_type: 'dynamic' }), /rope_scaling is .*linear, llama3/],
    ['factors in lists', { rope_parameters: longrope }, /rope_parameters is .*longrope/],
    ['a scaling without a factor', scaled({ type: 'linear' }), /rope_scaling\.factor must be/],
    ['a reversed ramp', scaled(yarn), /beta_fast is 1 and beta_slow 32/],
    ["a reversed ramp of Llama 3's", scaled(llama3), /low_freq_factor is 4 and high_freq_factor 1/],
    ['heads rotated in part', { partial_rotary_factor: 0.5 }, /partial_rotary_factor is 0.5/],
    ['biases everywhere', { attention_bias: true }, /attention_bias/],
    ['biases of the MLP', named('llama', { mlp_bias: true }), /mlp_bias/],
    ['another activation', { hidden_act: 'gelu' }, /hidden_act is "gelu"/],
    ['heads that do not group', { num_key_value_heads: 3 }, /8 is not a multiple of num_key_value/],
    ['an odd head', { head_dim: 95 }, /95 is odd/],
    ['a token outside the vocabulary', { eos_token_id: 6400 }, /6400 is outside the vocabulary/],
    ['a size that is a text', { hidden_size: '768' }, /hidden_size must be a positive .* "768"/],
    ['a missing size', { intermediate_size: undefined }, /intermediate_size .*; it is missing/],
  ])('is refused for %s', (_, changed, message) => {
    expect(() => readModelConfig({ ...qwen3, ...changed }, 'm/config.json')).toThrow(message);
  });

  test('is refused with all problems at once', () => {
    const json = { ...qwen3, vocab_size: 0, hidden_act: 'relu', tie_word_embeddings: 'yes' };
    expect(() => readModelConfig(json, 'm/config.json')).toThrow(
      /m\/config.json[^]*vocab_size[^]*tie_word_embeddings[^]*hidden_act/,
    );
  });

  test('is refused if the file holds no object', () => {
    expect(() => readModelConfig([], 'm/config.json')).toThrow(/expected an object, got \[\]/);
  });
});
