import { describe, expect, test } from '@jest/globals';

import { readModelConfig, writeModelConfig } from '#model/config/model-config.ts';
import { tinyModels } from '#tests/support/tiny-models.ts';

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

test.each(Object.entries(tinyModels))(
  'the config of %s is read back as it was written',
  (_, config) => {
    expect(readModelConfig(writeModelConfig(config, 'float32'))).toEqual(config);
  },
);

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
  expect(
    readModelConfig({ ...json, layer_types: Array<string>(8).fill('full_attention') }),
  ).toEqual(plain);
});

test("Qwen2's biases do not depend on attention_bias", () => {
  expect(readModelConfig({ ...qwen3, model_type: 'qwen2', attention_bias: true }).qkvBias).toBe(
    true,
  );
});

test('the rotary base in rope_parameters overrides the one beside it', () => {
  const json = { ...qwen3, rope_theta: 5, rope_parameters: { rope_theta: 7 } };
  expect(readModelConfig(json).ropeTheta).toBe(7);
});

const extended = {
  type: 'yarn',
  factor: 16,
  originalPositions: 2048,
  attentionFactor: 1,
  betaFast: 32,
  betaSlow: 1,
  truncate: true,
} as const;

test("MiniMind's inference_rope_scaling becomes YaRN with factor 16 from 2048 positions", () => {
  const json = { ...qwen3, model_type: 'minimind', inference_rope_scaling: true };
  expect(readModelConfig(json).ropeScaling).toEqual(extended);
  expect(readModelConfig({ ...json, max_position_embeddings: 2048 }).ropeScaling).toBeUndefined();
});

test.each([
  { type: 'linear', factor: 2.5 },
  {
    type: 'llama3',
    factor: 8,
    lowFrequencyTurns: 1,
    highFrequencyTurns: 4,
    originalPositions: 8192,
  },
  extended,
  { ...extended, attentionFactor: 0.1 * Math.log(16) + 1, truncate: false, betaFast: 20 },
] as const)('the rotary scaling %j is read back as it was written', (ropeScaling) => {
  const config = { ...readModelConfig(qwen3), ropeScaling };
  const written: unknown = JSON.parse(JSON.stringify(writeModelConfig(config, 'float32')));
  expect(readModelConfig(written)).toEqual(config);
});

test('each family has its flags', () => {
  expect(readModelConfig({ ...qwen3, model_type: 'qwen2' })).toMatchObject({
    qkNorm: false,
    qkvBias: true,
  });
  expect(readModelConfig({ ...qwen3, model_type: 'llama' })).toMatchObject({
    qkNorm: false,
    qkvBias: false,
  });
});

test("MiniMind's two versions are distinguished by their tensors", () => {
  const minimind = { ...qwen3, model_type: 'minimind' };
  const layer = 'model.layers.0.self_attn';
  expect(readModelConfig(minimind, 'c', [`${layer}.q_norm.weight`])).toMatchObject({
    family: 'qwen3',
    qkNorm: true,
  });
  expect(readModelConfig(minimind, 'c', [`${layer}.q_proj.weight`])).toMatchObject({
    family: 'llama',
    qkNorm: false,
  });
});

test('the rotary base may be in rope_parameters, and a text may have several ends', () => {
  const { rope_theta: theta, ...rest } = qwen3;
  const json = {
    ...rest,
    rope_parameters: { rope_theta: theta, rope_type: 'default' },
    eos_token_id: [2, 0],
  };
  expect(readModelConfig(json)).toMatchObject({ ropeTheta: 1e6, eosTokenIds: [2, 0] });
});

describe('An unsupported model', () => {
  const named = (model_type: string, more = {}) => ({ model_type, ...more });
  const scaled = (rope_scaling: object) => ({ rope_scaling });
  test.each([
    ['another architecture', named('mamba', { architectures: ['M'] }), /"mamba".*Supported: qwen3/],
    [
      'experts in its type',
      named('q_moe', { architectures: ['QMoe'] }),
      /QMoe is a mixture of exp/,
    ],
    ['experts by its flag', named('minimind', { use_moe: true }), /use_moe is true/],
    ['too many layers', { num_hidden_layers: 9_999_999 }, /num_hidden_layers is 9999999/],
    ['a sliding window', { use_sliding_window: true, max_window_layers: 4 }, /sliding-window/],
    ['layers of another type', { layer_types: ['sliding_attention'] }, /sliding-window/],
    [
      'a dynamic rotary scaling',
      scaled({ rope_type: 'dynamic' }),
      /rope_scaling is .*linear, llama3/,
    ],
    [
      'a rotary scaling by lists of factors',
      { rope_parameters: { rope_type: 'longrope', rope_theta: 1e4, long_factor: [1] } },
      /rope_parameters is .*longrope/,
    ],
    [
      'a rotary scaling without a factor',
      scaled({ type: 'linear' }),
      /rope_scaling\.factor must be/,
    ],
    [
      'a reversed ramp',
      scaled({ type: 'yarn', factor: 2, beta_fast: 1, beta_slow: 32 }),
      /beta_fast is 1 and beta_slow 32/,
    ],
    [
      "a reversed ramp of Llama 3's",
      scaled({ type: 'llama3', factor: 2, low_freq_factor: 4, high_freq_factor: 1 }),
      /low_freq_factor is 4 and high_freq_factor 1/,
    ],
    ['heads rotated in part', { partial_rotary_factor: 0.5 }, /partial_rotary_factor is 0.5/],
    ['biases everywhere', { attention_bias: true }, /attention_bias/],
    ['biases of the MLP', named('llama', { mlp_bias: true }), /mlp_bias/],
    ['another activation', { hidden_act: 'gelu' }, /hidden_act is "gelu"/],
    ['heads that do not group', { num_key_value_heads: 3 }, /8 is not a multiple of num_key_value/],
    ['an odd head', { head_dim: 95 }, /95 is odd/],
    ['a token outside the vocabulary', { eos_token_id: 6400 }, /6400 is outside the vocabulary/],
    ['a size that is a text', { hidden_size: '768' }, /hidden_size must be a positive .* "768"/],
  ])('is refused for %s', (_, changed, message) => {
    expect(() => readModelConfig({ ...qwen3, ...changed }, 'm/config.json')).toThrow(message);
  });

  test('is refused with all problems at once', () => {
    const json = {
      ...qwen3,
      vocab_size: 0,
      hidden_act: 'relu',
      tie_word_embeddings: 'yes',
      intermediate_size: undefined,
    };
    expect(() => readModelConfig(json, 'm/config.json')).toThrow(
      /m\/config.json[^]*vocab_size[^]*tie_word_embeddings[^]*hidden_act|m\/config.json[^]*vocab_size[^]*intermediate_size must be a positive integer; it is missing/,
    );
  });

  test('is refused if the file holds no object', () => {
    expect(() => readModelConfig([], 'm/config.json')).toThrow(/expected an object, got \[\]/);
  });
});
