import type { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { ModelConfig } from '../../model/model-config.ts';
import { embeddingName, initialParameters, layerParameter } from '../../model/parameters.ts';

/** Of the embeddings: large enough to be seen beside what heads write. */
const embeddingDeviation = 0.05;

/** What a head writes, as a share of what it attends to. */
const copyGain = 0.1;

/**
 * Fresh weights with which every attention head writes what it reads: `o_proj` is the transpose of `v_proj`, scaled, and
 * both are near orthogonal. With the tied embedding, attending to a token then makes that token likelier from the first
 * step on, so that where to look is all there is to learn before names can be copied; from ordinary fresh weights, small
 * models spend most of their warm-up on a plateau where neither looking nor writing pays without the other.
 *
 * After Trockman and Kolter 2023, "Mimetic initialization of self-attention layers",
 * https://arxiv.org/abs/2305.09828, section 3. Departure: values and output only, with a positive sign.
 */
export function copyingParameters(config: ModelConfig, rng: KeyedRng): Map<string, Float32Array> {
  const parameters = initialParameters(config, rng);
  parameters.set(
    embeddingName,
    normals(config.vocabSize * config.hiddenSize, embeddingDeviation, rng.child('embedding')),
  );
  for (let layer = 0; layer < config.layers; layer++) {
    const { values, output } = copyingHeads(config, rng.child('copying', layer));
    parameters.set(layerParameter(layer, 'self_attn.v_proj.weight'), values);
    parameters.set(layerParameter(layer, 'self_attn.o_proj.weight'), output);
  }
  return parameters;
}

/** `v_proj` [kvHeads x headDim, width] and `o_proj` [width, heads x headDim] of a layer. */
function copyingHeads(
  { hiddenSize: width, heads, kvHeads, headDim }: ModelConfig,
  rng: KeyedRng,
): { readonly values: Float32Array; readonly output: Float32Array } {
  const values = normals(kvHeads * headDim * width, 1 / Math.sqrt(width), rng);
  const output = new Float32Array(width * heads * headDim);
  for (let out = 0; out < width; out++) {
    for (let column = 0; column < heads * headDim; column++) {
      const head = Math.floor(column / headDim);
      const shared = Math.floor((head * kvHeads) / heads);
      const row = shared * headDim + (column % headDim);
      output[out * heads * headDim + column] = copyGain * (values[row * width + out] ?? 0);
    }
  }
  return { values, output };
}

const normals = (count: number, deviation: number, rng: KeyedRng): Float32Array =>
  Float32Array.from({ length: count }, () => deviation * rng.normal());
