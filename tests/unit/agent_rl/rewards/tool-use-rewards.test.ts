import { describe, expect, test } from '@jest/globals';

import { format } from '#agent_rl/rewards/format.ts';
import { mrr, reciprocalRank } from '#agent_rl/rewards/mrr.ts';
import { searchCost } from '#agent_rl/rewards/search-cost.ts';
import { toolCalls } from '#agent_rl/rewards/tool-calls.ts';
import { validCode } from '#agent_rl/rewards/valid-code.ts';
import { episodeOf, type SaidCall } from '#tests/support/episodes.ts';

describe('The reward mrr', () => {
  const task = { documentIds: ['d7', 'd9'] };
  const found = (...documents: string[]) => ({ calls: [{ tool: 'search', found: documents }] });
  const best = { over: 'best' } as const;

  test.each([
    [['d7', 'd1'], 1],
    [['d1', 'd2', 'd9', 'd7'], 1 / 3],
    // Two passages of one document are two hits.
    [['d1', 'd1', 'd1', 'd7'], 1 / 4],
    [['d1', 'd77'], 0],
    [[], 0],
  ])('rates the hits %j: %d', (documents, score) => {
    expect(mrr(episodeOf(task, [found(...documents)]), best)).toBe(score);
  });

  test('counts the best search of an episode, or the last', () => {
    const view = episodeOf(task, [found('d1', 'd7'), found('d1', 'd2', 'd7'), { said: 'so' }]);
    expect(mrr(view, best)).toBe(1 / 2);
    expect(mrr(view, { over: 'last' })).toBe(1 / 3);
  });

  test('is 0 without a search, and does not apply to a task without documents', () => {
    expect(mrr(episodeOf(task, [{ calls: [{ tool: 'calculator' }] }]), best)).toBe(0);
    expect(mrr(episodeOf(task, []), { over: 'last' })).toBe(0);
    expect(mrr(episodeOf({}, [found('d7')]), best)).toBeUndefined();
  });

  test('reads the documents of a plain task from its metadata', () => {
    const plain = { metadata: { document_ids: ['d1'] } };
    expect(mrr(episodeOf(plain, [found('d2', 'd1')]), best)).toBe(1 / 2);
  });

  test('counts a passage for every document that contains it', () => {
    const hits = [{ documentId: 'a' }, { documentId: 'b', alsoIn: ['c', 'd'] }];
    expect(reciprocalRank(hits, new Set(['d']))).toBe(1 / 2);
  });
});

describe('The reward format', () => {
  const called: SaidCall = { tool: 'search' };
  const settings = { thought: true, call: true, contains: [] as string[] };

  test('is the share of turns that open with a thought', () => {
    const view = episodeOf({}, [{ thought: 'hm', calls: [called] }, { said: 'Oslo' }]);
    expect(format(view, settings)).toBe(1 / 2);
    expect(format(view, { ...settings, thought: false })).toBe(1);
  });

  test('is 0 without an executed call, if a call is required', () => {
    const rejected = episodeOf({}, [{ thought: 'x', calls: [{ ...called, status: 'rejected' }] }]);
    expect(format(rejected, settings)).toBe(0);
    const uncalled = episodeOf({}, [{ thought: 'x', said: 'Oslo' }]);
    expect(format(uncalled, settings)).toBe(0);
    expect(format(uncalled, { ...settings, call: false })).toBe(1);
  });

  test('is the mean of thoughts and required texts', () => {
    const view = episodeOf({}, [{ thought: 'x', calls: [called] }, { said: 'so \\boxed{5}' }]);
    // Thoughts in 1 of 2 turns, 1 of 4 texts: (1/2 + 1/4) / 2.
    expect(format(view, { ...settings, contains: ['\\boxed{', 'Step', '```', 'QED'] })).toBe(3 / 8);
  });
});

describe('The reward tool_calls', () => {
  const settings = { minCalls: 1, freeCalls: 2, perCall: 0.25, maxCost: 0.6 };
  const calls = (count: number) =>
    episodeOf({}, [{ calls: Array.from({ length: count }, () => ({ tool: 'search' })) }]);

  test.each([
    [0, -0.25],
    [1, 0],
    [2, 0],
    [3, -0.25],
    [4, -0.5],
    [5, -0.6],
  ])('rates %d calls: %d', (count, score) => {
    expect(toolCalls(calls(count), settings)).toBe(score);
  });

  test('ignores calls that did not run, and counts failed ones', () => {
    const statuses = ['rejected', 'error', 'timeout', 'ok'] as const;
    const view = episodeOf({}, [{ calls: statuses.map((status) => ({ tool: 'x', status })) }]);
    expect(toolCalls(view, settings)).toBe(-0.25);
  });

  test('has the free calls of the settings', () => {
    expect(toolCalls(calls(3), { ...settings, minCalls: 3 })).toBe(0);
  });
});

describe('The reward search_cost', () => {
  const settings = { tools: ['search'], perCall: 0.1, perThousandCharacters: 0.2, maxCost: 1 };

  test('counts calls of the named tools and the length of their results', () => {
    const view = episodeOf({}, [
      { calls: [{ tool: 'search', content: 'x'.repeat(1500) }, { tool: 'calculator' }] },
      { calls: (['timeout', 'rejected'] as const).map((status) => ({ tool: 'search', status })) },
    ]);
    // Two searches at 0.1 and 1.5 thousand characters at 0.2.
    expect(searchCost(view, settings)).toBeCloseTo(-0.5, 12);
  });

  test('is 0 without a search, and never more than its limit', () => {
    const long = episodeOf({}, [{ calls: [{ tool: 'search', content: 'x'.repeat(9000) }] }]);
    expect(searchCost(episodeOf({}, []), settings)).toBe(0);
    expect(searchCost(long, settings)).toBe(-1);
  });
});

describe('The reward valid_code', () => {
  const program = (ended: SaidCall['ended'], status: SaidCall['status'] = 'ok'): SaidCall => ({
    tool: 'code_exec',
    status,
    ...(ended !== undefined && { ended }),
  });

  test('is the share of programs that ran to their end, whatever the output', () => {
    const failed = { calls: [program('error', 'error'), program('timeout', 'timeout')] };
    const ran = { calls: [program('ok'), program(undefined, 'rejected')] };
    const view = episodeOf({}, [failed, ran, { said: 'done' }]);
    expect(validCode(view)).toBe(1 / 4);
  });

  test('counts a program whose test fails', () => {
    expect(validCode(episodeOf({}, [{ calls: [program('ok', 'error')] }]))).toBe(1);
  });

  test('is 0 without a program, and ignores other tools', () => {
    expect(validCode(episodeOf({}, [{ said: 'print(1)' }]))).toBe(0);
    expect(validCode(episodeOf({}, [{ calls: [{ tool: 'calculator', ended: 'ok' }] }]))).toBe(0);
  });
});
