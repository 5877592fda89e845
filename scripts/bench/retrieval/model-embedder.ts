import type { Embedder } from '../../../agent_rl/core/services/search.ts';
import type {
  BuildSettings,
  TransformersSettings,
} from '../../../agent_rl/search/corpus/settings.ts';

/** A Sentence Transformers model without prefixes, in a folder. */
export const plainModel = (model: string): TransformersSettings => ({
  type: 'transformers',
  model,
  queryPrefix: '',
  passagePrefix: '',
});

/** Passages that the model reads whole: 256 tokens, of which a title has up to 30 and two frame the text. */
export const chunksFor = (model: string): BuildSettings => ({
  chunking: { tokenizer: model, tokens: 224 },
});

/** An embedder that makes the vector of a query once. */
export function remembering(embedder: Embedder): Embedder {
  const known = new Map<string, Float32Array>();
  return {
    name: embedder.name,
    close: () => embedder.close(),
    embed: async (texts, as, signal) => {
      if (as !== 'query') return embedder.embed(texts, as, signal);
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        const vector = known.get(text) ?? (await embedder.embed([text], as, signal))[0];
        if (vector === undefined) throw new Error(`${embedder.name} gave no vector.`);
        known.set(text, vector);
        vectors.push(vector);
      }
      return vectors;
    },
  };
}
