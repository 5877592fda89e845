import type { ModelConfig } from '../config/architecture.ts';
import { parameterSpecs } from '../config/parameters.ts';
import type { LateTensor } from '../weights/safetensors.ts';
import type { GgufFile, GgufTensor } from './gguf-file.ts';
import { invalid } from '../weights/safetensors-header.ts';

/** Parts of a block, by their names in the file and in Hugging Face's. */
const parts: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  ffn_norm: 'post_attention_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
};

const outside: Readonly<Record<string, string>> = {
  'token_embd.weight': 'model.embed_tokens.weight',
  'output_norm.weight': 'model.norm.weight',
  'output.weight': 'lm_head.weight',
};

/** What says how positions turn: the config has it. */
const notWeights = new Set(['rope_freqs.weight']);

/** The name in Hugging Face's files; undefined for a tensor that these models do not have. */
function publishedName(name: string): string | undefined {
  const [, layer, part, kind] = /^blk\.(\d+)\.(\w+)\.(weight|bias)$/.exec(name) ?? [];
  if (part === undefined) return outside[name];
  const named = parts[part];
  return named && `model.layers.${layer}.${named}.${kind}`;
}

/**
 * The weights of a file under the names of Hugging Face, each read when it is written.
 *
 * @throws AgentRlError `MODEL_INVALID` for tensors that are missing, of another shape, or no part of the model
 */
export function ggufTensors(file: GgufFile, config: ModelConfig): Map<string, LateTensor> {
  const named = file.tensors.filter(({ name }) => !notWeights.has(name));
  const byName = new Map(named.map((tensor) => [publishedName(tensor.name), tensor]));
  const unknown = named.find(({ name }) => publishedName(name) === undefined);
  if (unknown !== undefined)
    throw invalid(file.path, `tensor "${unknown.name}" is not part of a ${config.family} model`);
  const written = new Map<string, LateTensor>();
  for (const { name, shape } of parameterSpecs(config)) {
    const tensor = byName.get(name);
    byName.delete(name);
    if (tensor === undefined) throw invalid(file.path, `it has no tensor for ${name}`);
    if (tensor.shape.join() !== shape.join())
      throw invalid(
        file.path,
        `tensor "${tensor.name}" has shape [${tensor.shape.join(', ')}]; expected [${shape.join(', ')}]`,
      );
    written.set(name, { shape, make: () => valuesOf(file, tensor, config) });
  }
  const [left] = byName.values();
  if (left !== undefined)
    throw invalid(file.path, `tensor "${left.name}" is not part of a ${config.family} model`);
  return written;
}

function valuesOf(file: GgufFile, tensor: GgufTensor, config: ModelConfig): Float32Array {
  const values = file.read(tensor);
  if (config.family !== 'llama') return values;
  if (tensor.name.endsWith('.attn_q.weight')) return unpaired(values, config.heads, config.headDim);
  if (tensor.name.endsWith('.attn_k.weight'))
    return unpaired(values, config.kvHeads, config.headDim);
  return values;
}

/**
 * Llama's files hold the two rows of a pair that turns together side by side; Hugging Face's hold the first of all pairs of a
 * head before the second.
 *
 * @param values [heads * headDim, width]
 */
function unpaired(values: Float32Array, heads: number, headDim: number): Float32Array {
  const width = values.length / (heads * headDim);
  const half = headDim / 2;
  const out = new Float32Array(values.length);
  for (let head = 0; head < heads; head++)
    for (let pair = 0; pair < half; pair++)
      for (let side = 0; side < 2; side++) {
        const from = (head * headDim + 2 * pair + side) * width;
        const to = (head * headDim + side * half + pair) * width;
        out.set(values.subarray(from, from + width), to);
      }
  return out;
}
