import { describe, expect, test } from '@jest/globals';

import { alignedLogProbs, missingLogProb } from '#agent_rl/generation/openai/llama-cpp-dialect.ts';

const missing = Number.NaN;
const entry = (id: number, logprob = -id) => ({ id, logprob });

describe('The reader of log-probabilities', () => {
  test.each<[string, number[], object[], number[]]>([
    ['all there', [5, 6], [entry(5), entry(6)], [-5, -6]],
    ['none there', [5, 6], [], [missing, missing]],
    ['the first half of a character left out', [5, 6, 7], [entry(5), entry(7)], [-5, missing, -7]],
    ['left out at the end', [5, 6], [entry(5)], [-5, missing]],
    [
      'of one of two equal tokens, which may be either',
      [5, 5, 7],
      [entry(5), entry(7)],
      [missing, missing, -7],
    ],
    ['of equal tokens that are all there', [5, 5], [entry(5, -1), entry(5, -2)], [-1, -2]],
    ['probabilities', [5], [{ id: 5, prob: 0.5 }], [Math.log(0.5)]],
  ])('assigns them to their tokens: %s', (_, tokens, entries, logProbs) => {
    expect(alignedLogProbs(tokens, entries as Record<string, unknown>[])).toEqual(logProbs);
  });

  test.each<[string, number[], object[]]>([
    ['another token', [5], [entry(6)]],
    ['another order', [5, 6], [entry(6), entry(5)]],
    ['more than were drawn', [5], [entry(5), entry(5)]],
  ])('refuses them when they are of %s', (_, tokens, entries) => {
    expect(alignedLogProbs(tokens, entries as Record<string, unknown>[])).toBeUndefined();
  });
});

const half = Math.log(0.5);
const quarter = Math.log(0.25);
const all = [entry(3, half), entry(4, quarter), entry(5, quarter)];
const asked: unknown[] = [];
const ask = (listed: object[]) => async (body: object) => {
  const { n_probs: count } = body as { n_probs: number };
  asked.push(count);
  const top_logprobs = listed.slice(0, count >= 6 && count !== 100 ? 6 : 1);
  return { completion_probabilities: [{ id: 0, logprob: -9, top_logprobs }] };
};
const of = (token: number, temperature: number, listed = all) => {
  asked.length = 0;
  const sampling = { temperature };
  return missingLogProb({ before: [1], token, sampling, vocabSize: 6, ask: ask(listed) });
};

test('a missing log-probability comes from the likeliest tokens, or is found among all', async () => {
  expect(await of(3, 1)).toBe(half);
  expect(asked).toEqual([100]);
  expect(await of(5, 0)).toBe(quarter);
  expect(asked).toEqual([100, 6]);
});

test('a missing log-probability follows from all tokens at another temperature', async () => {
  // Squares of 1/2, 1/4, 1/4 are 4, 1, 1 sixteenths.
  expect(await of(4, 0.5)).toBeCloseTo(Math.log(1 / 6), 12);
  expect(asked).toEqual([6]);
});

test('a missing log-probability is NaN where the server does not report it', async () => {
  expect(await of(9, 1)).toBeNaN();
  expect(await of(9, 1, [])).toBeNaN();
});
