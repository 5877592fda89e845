import { showValue } from '../../agent_rl/core/show-value.ts';
import type { ModelConfig, ModelFamily, RopeScaling } from '../config/architecture.ts';
import { GgufFields } from './gguf-fields.ts';
import type { GgufFile } from './gguf-file.ts';
import { llama3ScalingOf } from './rope-factors.ts';
import { invalid } from '../weights/safetensors-header.ts';

const families: readonly ModelFamily[] = ['llama', 'qwen2', 'qwen3'];

/**
 * The model that a file describes.
 *
 * @throws AgentRlError `MODEL_INVALID` for an architecture that is not read, and for what is missing, all at once
 */
export function ggufConfig(file: GgufFile): ModelConfig {
  const { metadata, path, tensors } = file;
  const named = metadata['general.architecture'];
  const family = families.find((one) => one === named);
  if (family === undefined)
    throw invalid(
      path,
      `its architecture is ${showValue(named)}; supported: ${families.join(', ')}`,
    );
  const fields = new GgufFields(metadata, family);
  const shapeOf = (name: string) => tensors.find((one) => one.name === name)?.shape;
  const hiddenSize = fields.count('embedding_length');
  const heads = fields.count('attention.head_count');
  const headDim = fields.count('attention.key_length', hiddenSize / heads);
  const maxPositions = fields.count('context_length');
  const ropeTheta = fields.float('rope.freq_base', 10_000);
  const rope = { theta: ropeTheta, dimensions: headDim };
  const ropeScaling = scalingOf(file, fields, rope);
  if (fields.count('rope.dimension_count', headDim) !== headDim)
    fields.problems.push(`${family}.rope.dimension_count is not ${headDim}, the size of a head`);
  if (fields.has('expert_count'))
    fields.problems.push(`${family}.expert_count: the model is a mixture of experts`);
  if (fields.has('attention.sliding_window'))
    fields.problems.push(`${family}.attention.sliding_window: only full attention is supported`);
  const vocabSize = shapeOf('token_embd.weight')?.[0];
  if (vocabSize === undefined) fields.problems.push('tensor "token_embd.weight" is missing');
  const config: ModelConfig = {
    family,
    vocabSize: vocabSize ?? 0,
    hiddenSize,
    layers: fields.count('block_count'),
    heads,
    kvHeads: fields.count('attention.head_count_kv', heads),
    headDim,
    intermediateSize: fields.count('feed_forward_length'),
    rmsNormEps: fields.float('attention.layer_norm_rms_epsilon'),
    ropeTheta,
    ropeScaling,
    maxPositions,
    tiedEmbeddings: shapeOf('output.weight') === undefined,
    qkNorm: family === 'qwen3',
    qkvBias: family === 'qwen2',
    ...idsOf(file),
  };
  if (fields.problems.length > 0) throw invalid(path, fields.problems.join('; '));
  return config;
}

function scalingOf(
  file: GgufFile,
  fields: GgufFields,
  rope: { theta: number; dimensions: number },
): RopeScaling | undefined {
  const factors = file.tensors.find(({ name }) => name === 'rope_freqs.weight');
  if (factors !== undefined) {
    const scaling = llama3ScalingOf(file.read(factors), rope);
    if (scaling === undefined)
      fields.problems.push('rope_freqs.weight has factors that match no known scaling');
    return scaling;
  }
  const type = fields.text('rope.scaling.type') ?? 'none';
  if (type === 'none') return undefined;
  if (type === 'linear') return { type, factor: fields.float('rope.scaling.factor') };
  fields.problems.push(`rope.scaling.type is ${showValue(type)}; supported: none, linear`);
  return undefined;
}

function idsOf({ metadata }: GgufFile): Pick<ModelConfig, 'bosTokenId' | 'eosTokenIds'> {
  const id = (name: string): number[] => {
    const value = metadata[`tokenizer.ggml.${name}_token_id`];
    return typeof value === 'number' ? [value] : [];
  };
  const [bosTokenId] = id('bos');
  return {
    bosTokenId,
    eosTokenIds: [...new Set([...id('eos'), ...id('eot')])],
  };
}
