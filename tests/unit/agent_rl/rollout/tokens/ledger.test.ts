import { describe, expect, test } from '@jest/globals';

import type { Advantage } from '#agent_rl/core/algorithm/advantage.ts';
import { Transcript } from '#agent_rl/core/transcript.ts';
import { failureUse, keepLedger, usedTokens } from '#agent_rl/rollout/tokens/ledger.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import { member, part } from '#tests/support/rollouts.ts';

describe('keepLedger', () => {
  const trained = part({ sampled: 5 });
  const flat = part({ sampled: 3 });
  const lost = part({ sampled: 4, undelivered: 6 });
  const broken = part({ sampled: 2, outcome: 'infrastructure-error', undelivered: 1 });

  test('books every sampled token once', () => {
    const entries = [
      { part: trained, use: 'trained' },
      { part: flat, use: 'zero-advantage' },
      { part: lost, use: 'masked' },
      { part: broken, use: 'infrastructure' },
    ] as const;
    const { tokens, sampled } = keepLedger(entries, 5);
    // 5 + 3 + 4 + 2 in sequences; 6 + 1 that are in none.
    expect(sampled).toBe(21);
    const booked = { trained: 5, 'zero-advantage': 3, masked: 4, undelivered: 7 };
    expect(tokens).toMatchObject({ ...booked, infrastructure: 2 });
    const others = Object.values(tokens).filter((count) => count > 0);
    expect(others).toHaveLength(5);
  });

  test('books the turns of a trained part whose advantage is 0 as such, and no turns of others', () => {
    const transcript = new Transcript();
    for (const length of [2, 5]) {
      transcript.appendSampled(Array(length).fill(1), Array(length).fill(-1), 0);
      transcript.append('tool', [3]);
    }
    const own = part({ sequences: [transcript.record()] });
    const used = (use: 'trained' | 'masked', advantage: Advantage) =>
      usedTokens({ part: own, use, advantage });
    const ofTurns = [
      ['zero-advantage', 2],
      ['trained', 5],
    ];
    expect(used('trained', [0, 3])).toEqual(ofTurns);
    expect(used('masked', [0, 3]).map(([use]) => use)).toEqual(['masked', 'masked']);
    expect(used('trained', 1).map(([use]) => use)).toEqual(['trained', 'trained']);
    const entry = { part: own, use: 'trained', advantage: [0, 3] } as const;
    expect(keepLedger([entry], 5).tokens).toMatchObject({ trained: 5, 'zero-advantage': 2 });
    expect(() => keepLedger([entry], 7)).toThrow('5 booked as trained, 7 with a weight');
  });

  test('does not balance when a part is booked twice or other tokens were trained', () => {
    const entry = { part: trained, use: 'trained' } as const;
    expect(() => keepLedger([entry, entry], 10)).toThrow('does not balance: 5 sampled, 10 booked');
    expect(() => keepLedger([entry], 4)).toThrow('5 booked as trained, 4 with a weight');
  });

  test('classifies outcomes by who caused them', () => {
    expect(failureUse('aborted')).toBe('aborted');
    expect(failureUse('agent-failed')).toBe('infrastructure');
    expect(failureUse('agent-error')).toBeUndefined();
    expect(failureUse('grader-error')).toBe('grader');
    expect(failureUse('wrong-answer')).toBeUndefined();
  });
});

test('a part is written as JSON, with null for absent values', () => {
  const line = episodeRecord(member({ run: 'run-1', sampled: 2, outcome: 'aborted' }));
  expect(JSON.parse(JSON.stringify(line))).toEqual(line);
  expect(line).toMatchObject({ schema: 3, run: 'run-1', slice: null, answer: null, reward: null });
});
