import { AgentRlError } from '../../agent_rl/core/errors.ts';
import type { ModelConfig, ModelFamily } from './architecture.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { readQuantization, writeQuantization } from './quantization.ts';
import { JsonFields } from './json-fields.ts';
import { readRope, writtenRopeScaling } from '../decoder/rope-scaling.ts';

type Json = Readonly<Record<string, unknown>>;

const families: Readonly<Record<string, ModelFamily>> = {
  qwen3: 'qwen3',
  minimind: 'qwen3',
  qwen2: 'qwen2',
  llama: 'llama',
};

const architectureOf: Readonly<Record<ModelFamily, string>> = {
  qwen3: 'Qwen3ForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  llama: 'LlamaForCausalLM',
};

const supported =
  'Supported: qwen3 (Qwen3, MiniMind-3), minimind (MiniMind-2 and 3), qwen2 (Qwen2.5), llama (Llama, MiniMind-2).';

/**
 * Reads a Hugging Face config.json, already parsed.
 *
 * MiniMind's own `model_type: minimind` does not say whether queries and keys are normalised (version 3) or not
 * (version 2): the names of the stored tensors do, so pass them where there are weights. Without them it is
 * taken to be version 3.
 *
 * @throws AgentRlError `MODEL_INVALID`, naming every problem at once.
 */
export function readModelConfig(
  json: unknown,
  file = 'config.json',
  tensorNames?: Iterable<string>,
): ModelConfig {
  if (!isRecord(json)) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `${file}: expected an object, got ${JSON.stringify(json)}.`,
    );
  }
  const raw: Json = json;
  const type = modelTypeOf(raw, file);
  const fields = new JsonFields(raw);
  const family = familyOf(type, tensorNames);
  const hiddenSize = fields.count('hidden_size');
  const heads = fields.count('num_attention_heads');
  const kvHeads = fields.count('num_key_value_heads', heads);
  const maxPositions = fields.count('max_position_embeddings', type === 'llama' ? 2048 : 32768);
  const bosTokenId = fields.tokenIds('bos_token_id')[0];
  const config: ModelConfig = {
    family,
    vocabSize: fields.count('vocab_size'),
    hiddenSize,
    layers: fields.count('num_hidden_layers'),
    heads,
    kvHeads,
    headDim: fields.count('head_dim', usualHeadDim(raw, type) ?? hiddenSize / heads),
    intermediateSize: fields.count('intermediate_size'),
    rmsNormEps: fields.positive('rms_norm_eps', type === 'minimind' ? 1e-5 : 1e-6),
    ...readRope(raw, fields, { theta: type === 'minimind' ? 1e6 : 1e4, maxPositions }),
    maxPositions,
    // MiniMind always ties; the other families' own default is not to.
    tiedEmbeddings: fields.flag('tie_word_embeddings', type === 'minimind'),
    qkNorm: family === 'qwen3',
    qkvBias: family === 'qwen2',
    ...(bosTokenId === undefined ? {} : { bosTokenId }),
    eosTokenIds: fields.tokenIds('eos_token_id'),
  };
  const problems = [
    ...fields.problems,
    ...shapeProblems(config),
    ...unsupportedFeatures(raw, config),
  ];
  const quantization = readQuantization(raw['quantization_config'], config, problems);
  if (problems.length > 0) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `${file} describes a model this decoder cannot run:\n- ${problems.join('\n- ')}`,
    );
  }
  return quantization === undefined ? config : { ...config, quantization };
}

/** The Hugging Face config.json of a model, as `transformers` reads it. */
export function writeModelConfig(config: ModelConfig, torchDtype: string): Record<string, unknown> {
  return {
    architectures: [architectureOf[config.family]],
    model_type: config.family,
    attention_bias: false,
    attention_dropout: 0,
    bos_token_id: config.bosTokenId ?? null,
    eos_token_id: config.eosTokenIds.length === 1 ? config.eosTokenIds[0] : config.eosTokenIds,
    head_dim: config.headDim,
    hidden_act: 'silu',
    hidden_size: config.hiddenSize,
    initializer_range: 0.02,
    intermediate_size: config.intermediateSize,
    max_position_embeddings: config.maxPositions,
    num_attention_heads: config.heads,
    num_hidden_layers: config.layers,
    num_key_value_heads: config.kvHeads,
    quantization_config: config.quantization && writeQuantization(config, config.quantization),
    rms_norm_eps: config.rmsNormEps,
    rope_scaling: config.ropeScaling === undefined ? null : writtenRopeScaling(config.ropeScaling),
    rope_theta: config.ropeTheta,
    tie_word_embeddings: config.tiedEmbeddings,
    torch_dtype: torchDtype,
    use_cache: true,
    use_sliding_window: false,
    vocab_size: config.vocabSize,
  };
}

function modelTypeOf(raw: Json, file: string): string {
  const type = raw['model_type'];
  const architectures = Array.isArray(raw['architectures']) ? raw['architectures'].map(String) : [];
  if (typeof type === 'string' && Object.hasOwn(families, type)) return type;
  if (type === undefined) {
    const family = Object.entries(architectureOf).find(([, name]) =>
      architectures.includes(name),
    )?.[0];
    if (family !== undefined) return family;
    if (architectures.some((name) => name.startsWith('MiniMind'))) return 'minimind';
  }
  const mixture = [...architectures, String(type)].find((name) => /moe|mixtral/i.test(name));
  throw new AgentRlError(
    'MODEL_INVALID',
    `${file}: model_type ${JSON.stringify(type)} (architectures ${JSON.stringify(architectures)}) is not supported` +
      `${mixture === undefined ? '' : `: ${mixture} is a mixture of experts, and only dense models are supported`}. ${supported}`,
  );
}

/** Qwen3's own default, in Transformers, where nothing is said; null stands for an even share of the width. */
const usualHeadDim = (raw: Json, type: string): number | undefined =>
  type === 'qwen3' && raw['head_dim'] === undefined ? 128 : undefined;

function familyOf(type: string, tensorNames: Iterable<string> | undefined): ModelFamily {
  if (type === 'minimind' && tensorNames !== undefined) {
    return [...tensorNames].some((name) => name.endsWith('.q_norm.weight')) ? 'qwen3' : 'llama';
  }
  return families[type]!;
}

/** With more layers, lists of their tensors would exhaust memory. */
const mostLayers = 10_000;

function shapeProblems(config: ModelConfig): string[] {
  const { heads, kvHeads, headDim, layers } = config;
  const problems: string[] = [];
  if (layers > mostLayers)
    problems.push(`num_hidden_layers is ${layers}; at most ${mostLayers} are supported.`);
  if (heads % kvHeads !== 0) {
    problems.push(
      `num_attention_heads ${heads} is not a multiple of num_key_value_heads ${kvHeads}.`,
    );
  }
  if (headDim % 2 !== 0)
    problems.push(`head_dim ${headDim} is odd; the rotary embedding needs an even one.`);
  for (const id of [config.eosTokenIds, config.bosTokenId ?? []].flat()) {
    if (id >= config.vocabSize)
      problems.push(`token id ${id} is outside the vocabulary of ${config.vocabSize}.`);
  }
  return problems;
}

function unsupportedFeatures(raw: Json, { family, layers }: ModelConfig): string[] {
  const problems: string[] = [];
  const seen = (name: string): string => `${name} is ${JSON.stringify(raw[name])}`;
  if (raw['use_moe'] === true || Number(raw['num_local_experts'] ?? 0) > 1) {
    const flag = raw['use_moe'] === true ? 'use_moe' : 'num_local_experts';
    problems.push(
      `${seen(flag)}: the model is a mixture of experts; only dense models are supported.`,
    );
  }
  if (hasSlidingWindow(raw, layers)) {
    problems.push('it uses sliding-window attention; only full attention is supported.');
  }
  if ((raw['hidden_act'] ?? 'silu') !== 'silu')
    problems.push(`${seen('hidden_act')}; only "silu" is supported.`);
  // Qwen2 always has its biases; Qwen3 has no mlp_bias.
  const biases = { qwen2: [], qwen3: ['attention_bias'], llama: ['attention_bias', 'mlp_bias'] };
  for (const name of biases[family]) {
    if (raw[name] === true)
      problems.push(`${seen(name)}; only Qwen2's biases of q, k and v are supported.`);
  }
  return problems;
}

/** Qwen's files name a window even where `use_sliding_window` is false. */
function hasSlidingWindow(raw: Json, layers: number): boolean {
  const types = Array.isArray(raw['layer_types']) ? raw['layer_types'] : undefined;
  if (types !== undefined) return types.some((type) => type !== 'full_attention');
  if (raw['use_sliding_window'] !== true || raw['sliding_window'] === null) return false;
  return Number(raw['max_window_layers'] ?? 28) < layers;
}
