import type { Part } from '../../core/rollout.ts';
import { drawnSpans } from '../../core/transcript.ts';

/** Room for as many different pairs as a part has tokens, and exact as a factor below 2 ** 53. */
const roomForIds = 2 ** 26;

/** Sampled 4-grams, and those of them that occurred before in the same turn. */
export interface Repetition {
  fourGrams: number;
  repeated: number;
}

/**
 * Counts how much of what was sampled says again what the same turn has said. Turns are counted by themselves: the frame of
 * a tool call comes again in every turn, and is no sign of anything.
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
