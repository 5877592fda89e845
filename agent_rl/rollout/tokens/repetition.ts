import type { Part } from '../../core/rollout.ts';
import { drawnSpans } from '../../core/transcript.ts';

/** More than the tokens of a part, so that pairs stay distinct, and exact as a factor below 2 ** 53. */
const roomForIds = 2 ** 26;

/** Sampled 4-grams, and how many of them occurred before in the same turn. */
export interface Repetition {
  fourGrams: number;
  repeated: number;
}

/**
 * Counts repetition within the sampled tokens of a turn. Turns are counted separately, because the frame of a tool call
 * recurs in every turn.
 */
export function repetitionOf({ sequences }: Pick<Part, 'sequences'>): Repetition {
  const ids = new Map<number, number>();
  const pairId = (tokens: readonly number[], at: number): number => {
    const key = (tokens[at] ?? 0) * roomForIds + (tokens[at + 1] ?? 0);
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    return id;
  };
  let [fourGrams, repeated] = [0, 0];
  for (const [index, turns] of drawnSpans(sequences).entries()) {
    const { tokens = [] } = sequences[index] ?? {};
    for (const { start, end } of turns) {
      const seen = new Set<number>();
      for (let at = start; at + 4 <= end; at++) {
        const gram = pairId(tokens, at) * roomForIds + pairId(tokens, at + 2);
        fourGrams += 1;
        repeated += Number(seen.has(gram));
        seen.add(gram);
      }
    }
  }
  return { fourGrams, repeated };
}
