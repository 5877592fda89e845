import { describe, expect, test } from '@jest/globals';

import { maskOf, Transcript } from '#agent_rl/core/transcript.ts';

const tokens = (count: number): number[] => Array.from({ length: count }, (_, i) => i % 1000);

describe('a transcript', () => {
  test.each([32_768, 200_000])('holds an observation of %i tokens', (count) => {
    const transcript = new Transcript();
    transcript.append('user', [1, 2]);
    transcript.appendSampled([3], [-0.5], 1);
    transcript.append('tool', tokens(count));
    transcript.appendSampled(tokens(count), Array<number>(count).fill(-0.25), 1);
    const record = transcript.record();
    expect(record.spans.map(({ source, start, end }) => [source, start, end])).toEqual([
      ['user', 0, 2],
      ['sampled', 2, 3],
      ['tool', 3, 3 + count],
      ['sampled', 3 + count, 3 + 2 * count],
    ]);
    expect([record.tokens.length, record.logProbs.length]).toEqual([3 + 2 * count, 3 + 2 * count]);
    expect(record.logProbs.slice(2 + count, 4 + count)).toEqual([0, -0.25]);
    expect(maskOf(record, 'sampled').reduce((sum, one) => sum + one, 0)).toBe(1 + count);
  });
});
