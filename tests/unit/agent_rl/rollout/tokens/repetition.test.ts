import { describe, expect, test } from '@jest/globals';

import { repetitionOf } from '#agent_rl/rollout/tokens/repetition.ts';
import type { Span } from '#agent_rl/core/transcript.ts';

const turn = (start: number, end: number): Span => ({ start, end, source: 'sampled', version: 0 });

const repetitionIn = (tokens: number[], spans: Span[]) =>
  repetitionOf({ sequences: [{ tokens, spans, logProbs: [] }] });

describe('The repetition within turns', () => {
  test('counts a 4-gram that occurred earlier in the turn', () => {
    // 1212, 2121, 1212, 2121, 1212: five, of which three come again.
    const tokens = [1, 2, 1, 2, 1, 2, 1, 2];
    expect(repetitionIn(tokens, [turn(0, 8)])).toEqual({ fourGrams: 5, repeated: 3 });
  });

  test('ignores other turns, tokens that were not sampled, and 4-grams across turns', () => {
    const tokens = [1, 2, 3, 4, 9, 9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7];
    const answered: Span = { start: 4, end: 9, source: 'tool' };
    const spans = [turn(0, 4), answered, turn(9, 13), turn(13, 16)];
    expect(repetitionIn(tokens, spans)).toEqual({ fourGrams: 2, repeated: 0 });
  });

  test('distinguishes 4-grams with the same pairs in another order', () => {
    // 1 2 3 4 and 3 4 1 2 have the same pairs.
    const tokens = [1, 2, 3, 4, 1, 2];
    expect(repetitionIn(tokens, [turn(0, 6)])).toEqual({ fourGrams: 3, repeated: 0 });
  });
});
