import { tf } from '../../agent_rl/engine/ops.ts';
import { finishLayer, type Decoder, type Parameters } from './decoder-block.ts';
import { attend, embedSequences, sequenceHeads, type SequenceInputs } from './decoder.ts';
import type { KeysAndValues } from './step-attention.ts';
import type { ModelConfig } from '../config/architecture.ts';

/**
 * Rotated keys and values of every layer, [kv, T, hd] each, for one prompt, tokens [1, T]. Right padding is harmless: its entries are
 * simply not copied into the cache. No logits: the decode step is fed the prompt's last token and draws from there.
 */
export function prefill(
  config: ModelConfig,
  parameters: Parameters,
  inputs: SequenceInputs,
): readonly KeysAndValues[] {
  const decoder: Decoder = { config, parameters };
  const length = inputs.tokens.shape[1]!;
  const shape = [config.kvHeads, length, config.headDim];
  const caches: KeysAndValues[] = [];
  let hidden = embedSequences(decoder, inputs);
  for (let layer = 0; layer < config.layers; layer++) {
    const heads = sequenceHeads(decoder, layer, hidden, inputs);
    caches.push({ keys: tf.reshape(heads.keys, shape), values: tf.reshape(heads.values, shape) });
    // What the last layer adds to the hidden state is not read.
    if (layer < config.layers - 1)
      hidden = finishLayer(decoder, layer, hidden, attend(config, heads, inputs));
  }
  return caches;
}
