import { describe, expect, test } from '@jest/globals';

import { drawnMasks, maskOf, Transcript } from '#agent_rl/core/transcript.ts';

const tokens = (count: number): number[] => Array.from({ length: count }, (_, i) => i % 1000);

test.each([32_768, 200_000])('a transcript holds an observation of %i tokens', (count) => {
  const transcript = new Transcript();
  transcript.append('user', [1, 2]);
  transcript.appendSampled([3], [-0.5], 1);
  transcript.append('tool', tokens(count));
  transcript.appendSampled(tokens(count), Array<number>(count).fill(-0.25), 1);
  const record = transcript.record();
  const spans = record.spans.map(({ source, start, end }) => `${source} ${start} ${end}`);
  const tool = `tool 3 ${3 + count}`;
  const sampled = `sampled ${3 + count} ${3 + 2 * count}`;
  expect(spans).toEqual(['user 0 2', 'sampled 2 3', tool, sampled]);
  expect([record.tokens.length, record.logProbs.length]).toEqual([3 + 2 * count, 3 + 2 * count]);
  expect(record.logProbs.slice(2 + count, 4 + count)).toEqual([0, -0.25]);
  expect(maskOf(record, 'sampled').reduce((sum, one) => sum + one, 0)).toBe(1 + count);
});

describe('The beginning of a transcript', () => {
  const user = { source: 'user', start: 0, end: 2 };
  const whole = new Transcript();
  whole.append('user', [1, 2]);
  whole.appendSampled([10, 11, 12], [-0.1, -0.2, -0.3], 4);
  whole.append('tool', [5, 6]);

  test('has the first tokens with their spans, truncates the last span, and grows independently', () => {
    const beginning = whole.beginning(4);
    expect(beginning.record()).toEqual({
      tokens: [1, 2, 10, 11],
      spans: [user, { source: 'sampled', start: 2, end: 4, version: 4 }],
      logProbs: [0, 0, -0.1, -0.2],
    });
    beginning.append('user', [9]);
    expect([beginning.length, whole.length]).toEqual([5, 7]);
    expect(beginning.root).toBe(whole.root);
    expect(new Transcript().root).not.toBe(whole.root);
  });

  test('marks the turn that sampled its end, separately from later samples', () => {
    const beginning = whole.beginning(5, 0);
    beginning.appendSampled([13], [-0.4], 4);
    expect(beginning.beginning(6, 1).record().spans).toEqual([
      user,
      { source: 'sampled', start: 2, end: 5, version: 4, turn: 0 },
      { source: 'sampled', start: 5, end: 6, version: 4, turn: 1 },
    ]);
    const turns = whole
      .beginning(7, 0)
      .record()
      .spans.map(({ turn }) => turn);
    expect(turns).toEqual([undefined, undefined, undefined]);
  });
});

describe('Equal tokens after the same beginning', () => {
  const asked = new Transcript();
  asked.append('user', [1, 2]);
  const answered = (turn: number) => {
    const transcript = asked.beginning(2);
    transcript.appendSampled([10, 11], [-0.1, -0.2], 4);
    return transcript.beginning(4, turn);
  };
  const followed = (turn: number) => {
    const transcript = answered(turn);
    transcript.append('tool', [5]);
    transcript.appendSampled([12], [-0.3], 4);
    return transcript.beginning(6, 7).record();
  };
  const masks = (...turns: readonly [number, number]) =>
    drawnMasks([answered(turns[0]).record(), followed(turns[1])]).map((mask) =>
      Array.from(mask).join(''),
    );

  test('each token is trained once if one turn sampled it', () => {
    expect(masks(0, 0)).toEqual(['0011', '000001']);
  });

  test('each token is trained twice if two turns sampled it', () => {
    expect(masks(0, 1)).toEqual(['0011', '001101']);
  });
});
