import { describe, expect, test } from '@jest/globals';

import type { Generation, GenerationRequest } from '#agent_rl/core/services/generator.ts';
import {
  drawnInParts,
  mostAtOnce,
  tokensAtOnce,
} from '#agent_rl/generation/remote/drawn-in-parts.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';

test.each([
  [600, 1024],
  [60, 120],
  [3, 16],
])('a deadline of %i s allows parts of %i tokens', (deadlineS, tokens) => {
  expect(tokensAtOnce(deadlineS, mostAtOnce)).toBe(tokens);
});

describe('A turn requested in parts', () => {
  const second = { seed: 1, taskId: 'one', sample: 0, turn: 2, drawn: 7 };
  const request = requestOf('one', { maxTokens: 10, key: second });

  /** Draws 100, 101 and so on, up to a token after which it stops. */
  async function drawn(last = Infinity, over: Partial<GenerationRequest> = {}) {
    const asked: GenerationRequest[] = [];
    const generation = await drawnInParts<Generation>(
      { ...request, ...over },
      { atOnce: 4, goesOn: ({ stop }) => stop === 'max-tokens' },
      async (part) => {
        asked.push(part);
        const first = 100 + part.tokens.length - request.tokens.length;
        const count = Math.min(part.maxTokens, last - first + 1);
        const tokens = Array.from({ length: count }, (_, i) => first + i);
        const stop = tokens.at(-1) === last ? 'stop-token' : 'max-tokens';
        return { tokens, logProbs: tokens.map((token) => -token), stop, version: 3 };
      },
    );
    return { asked, generation };
  }

  test('has the tokens of all parts, each continued after the ones before', async () => {
    const { asked, generation } = await drawn();
    const tokens = [100, 101, 102, 103, 104, 105, 106, 107, 108, 109];
    expect(generation).toEqual({
      tokens,
      logProbs: tokens.map((token) => -token),
      stop: 'max-tokens',
      version: 3,
    });
    const parts = asked.map(({ maxTokens, key }) => `${maxTokens} at ${key.drawn}`);
    expect(parts).toEqual(['4 at 7', '4 at 11', '2 at 15']);
    expect(asked[2]!.tokens).toEqual([1, 2, 3, ...tokens.slice(0, 8)]);
  });

  test('ends with the part that stops, also at the end of a part', async () => {
    const within = await drawn(105);
    expect([within.generation.tokens.length, within.generation.stop]).toEqual([6, 'stop-token']);
    const atItsEnd = await drawn(103);
    expect([atItsEnd.generation.tokens.length, atItsEnd.asked.length]).toEqual([4, 1]);
  });

  test('makes one request when it has no room', async () => {
    const { asked, generation } = await drawn(Infinity, { maxTokens: 0 });
    expect([asked.length, generation.tokens]).toEqual([1, []]);
  });
});
