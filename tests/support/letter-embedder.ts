import type { Embedder } from '#agent_rl/core/services/search.ts';

/** Makes vectors that can be worked out by hand: how often each of some letters occurs, scaled to length 1. */
export function letterEmbedder(letters = 'abcd', name = `letters ${letters}`): Embedder {
  const vectorOf = (text: string): Float32Array => {
    // One more, so that a text without any of the letters has a direction.
    const counts = letters
      .split('')
      .map((letter) => text.split(letter).length - 1)
      .concat(0.01);
    const length = Math.hypot(...counts);
    return Float32Array.from(counts, (count) => count / length);
  };
  return { name, embed: async (texts) => texts.map(vectorOf), close: async () => {} };
}
