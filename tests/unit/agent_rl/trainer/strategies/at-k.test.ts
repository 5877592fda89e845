import { describe, expect, test } from '@jest/globals';

import * as fc from '#tests/support/properties.ts';
import { atK, countsUpTo, type OrderedAttempts } from '#agent_rl/trainer/strategies/at-k.ts';
import type { Part, Rollout } from '#agent_rl/core/rollout.ts';
import { chooseAttempt, meanLogProb } from '#agent_rl/trainer/strategies/choose-attempt.ts';
import { part, played, rollout, sequence } from '#tests/support/rollouts.ts';

/** Attempts as text: `1` solved its task, `0` did not. */
const attemptsAt = (text: string, index: number, family?: string): OrderedAttempts => {
  const solved = text.split('').map((one) => one === '1');
  const successes = solved.filter(Boolean).length;
  const plain = { failed: 0, groups: [], ofSlice: false, ...(family && { family }) };
  return { task: { taskId: `t${index}`, n: text.length, successes, ...plain }, solved };
};

const at = (texts: readonly string[], samples: number, seed = 1) => {
  const attempts = texts.map((text, index) => attemptsAt(text, index));
  return atK(attempts, samples, seed);
};

test('k takes powers of two and the number of samples', () => {
  const counts = [1, 2, 6, 8].map((samples) => countsUpTo(samples).join(' '));
  expect(counts).toEqual(['1', '1 2', '1 2 4 6', '1 2 4 8']);
});

describe('The figures pass@k and avg@k', () => {
  test('pass@k is exact for one success in four attempts', () => {
    // pass@2 = 1 - C(3, 2) / C(4, 2) = 1 - 3 / 6; the success is the third attempt.
    expect(at(['0010'], 4)).toMatchObject({
      passAtK: { 1: 0.25, 2: 0.5, 4: 1 },
      avgAtK: { 1: 0, 2: 0, 4: 0.25 },
    });
  });

  test('each figure is a mean over tasks', () => {
    // pass@2 of 1000 is 1/2, of 1100 it is 1 - C(2, 2) / 6 = 5/6, of 0000 it is 0.
    const { passAtK, avgAtK } = at(['1000', '0110', '0000'], 4);
    expect(passAtK[1]).toBeCloseTo((1 / 4 + 1 / 2) / 3, 12);
    expect(passAtK[2]).toBeCloseTo((1 / 2 + 5 / 6) / 3, 12);
    expect(passAtK[4]).toBeCloseTo(2 / 3, 12);
    expect(avgAtK[1]).toBeCloseTo(1 / 3, 12);
    expect(avgAtK[2]).toBeCloseTo((1 / 2 + 1 / 2) / 3, 12);
    expect(avgAtK[4]).toBeCloseTo((1 / 4 + 1 / 2) / 3, 12);
  });

  test('each figure excludes tasks with an attempt without a verdict', () => {
    expect(at(['11', '0'], 2)).toMatchObject({ passAtK: { 1: 1, 2: 1 }, avgAtK: { 2: 1 } });
    expect(at(['0'], 2)).toEqual({ passAtK: {}, avgAtK: {}, intervalsAtK: {} });
  });

  test('an interval depends on the seed, and is absent with one attempt', () => {
    const texts = ['1000', '0110', '0000', '1111', '0001', '0101'];
    expect(at(texts, 4)).toEqual(at(texts, 4));
    expect(at(texts, 4).intervalsAtK).not.toEqual(at(texts, 4, 2).intervalsAtK);
    const interval = { clusters: 6, over: 'tasks', method: 'cluster-bootstrap' };
    expect(at(texts, 4).intervalsAtK[2]?.pass.interval95).toMatchObject(interval);
    const once = { passAtK: { 1: 0.5 }, avgAtK: { 1: 0.5 }, intervalsAtK: {} };
    expect(at(['1', '0'], 1)).toEqual(once);
  });

  test('an interval over families is used if it is wider', () => {
    // Families are wholly solved or not at all: over 2 of them resamples are 0, 1/2 or 1, over 8 tasks hardly ever 0 or 1.
    const attempts = Array.from({ length: 8 }, (_, i) =>
      i < 4 ? attemptsAt('11', i, 'easy') : attemptsAt('00', i, 'hard'),
    );
    const { intervalsAtK } = atK(attempts, 2, 1);
    expect(intervalsAtK[2]?.pass).toMatchObject({
      interval95: { over: 'families', clusters: 2, low: 0, high: 1 },
      narrower95: { over: 'tasks', clusters: 8 },
    });
  });

  test('both figures have the known bounds and extreme values for any attempts', () => {
    const sizes = { minLength: 1, maxLength: 6 };
    const texts = fc.integer({ min: 1, max: 6 }).chain((samples) =>
      fc.record({
        samples: fc.constant(samples),
        texts: fc.array(fc.stringMatching(new RegExp(`^[01]{${samples}}$`)), sizes),
      }),
    );
    fc.assert(
      fc.property(texts, ({ samples, texts: given }) => {
        const { passAtK, avgAtK, intervalsAtK } = at(given, samples);
        const all = given.join('');
        const rate = all.replaceAll('0', '').length / all.length;
        const counts = countsUpTo(samples);
        // One attempt, drawn at random, solves its task as often as attempts do; pass@n has no chance in it.
        expect(passAtK[1]).toBeCloseTo(rate, 12);
        expect(avgAtK[samples]).toBeCloseTo(rate, 12);
        const solved = given.filter((text) => text.includes('1')).length;
        expect(passAtK[samples]).toBeCloseTo(solved / given.length, 12);
        for (const [index, k] of counts.entries()) {
          const before = passAtK[counts[index - 1] ?? k] ?? 0;
          expect(passAtK[k]).toBeGreaterThanOrEqual(before - 1e-12);
          for (const { interval95 } of Object.values(intervalsAtK[k] ?? {})) {
            expect(interval95?.low).toBeGreaterThanOrEqual(0);
            expect(interval95?.high).toBeLessThanOrEqual(1 + 1e-12);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});

/** An attempt whose two sampled tokens have this log-probability each. */
const attempt = (logProb: number, more: Partial<Part> = {}): Rollout =>
  played({ sequences: [{ ...sequence(1, 2), logProbs: [0, logProb, logProb] }], ...more });
const voting = (...told: readonly (readonly [string | undefined, number])[]): Rollout[] =>
  told.map(([answer, logProb]) => attempt(logProb, { answer }));

describe('The mean log-probability', () => {
  test('covers sampled tokens only', () => {
    const one = { ...sequence(3, 2), logProbs: [0, 0, 0, -1, -2] };
    // The prompt's three tokens do not count: (-1 - 2) / 2.
    expect(meanLogProb(played({ sequences: [one] }))).toBe(-1.5);
    expect(meanLogProb(played({ sampled: 0 }))).toBe(0);
  });

  test('covers learning agents only', () => {
    const drawnAt = (logProb: number) => [{ ...sequence(0, 1), logProbs: [logProb] }];
    const learner = part({ sequences: drawnAt(-1) });
    const opponent = part({ sequences: drawnAt(-9), learns: false });
    expect(meanLogProb(rollout([learner, opponent]))).toBe(-1);
  });
});

const majority = { name: 'majority' } as const;
const likeliest = { name: 'best-of-n', selector: 'log-probability' } as const;
const byJudge = { name: 'best-of-n', selector: 'judge' } as const;
const long = { ...sequence(0, 4), logProbs: [-0.2, -0.2, -0.2, -0.2] };

/** Two attempts with scores, of which the first is the likelier, and what was not paid of the second. */
const scored = (one?: Part['scores'], other?: Part['scores'], unpaid?: Part['unpaid']) => [
  attempt(-0.1, { ...(one && { scores: one }) }),
  attempt(-0.9, { ...(other && { scores: other }), ...(unpaid && { unpaid }) }),
];
const silent = voting([undefined, -0.9], [undefined, -0.5]);
const lengths = [attempt(-0.3), played({ sequences: [long] }), attempt(-0.25)];
const both = scored({ environment: 1, judge: 0.2 }, { environment: 0, judge: 0.8 });

test.each([
  // The most frequent answer, and its likeliest attempt.
  ['the votes', majority, voting(['7', -0.1], ['8', -0.9], ['8', -0.5], [undefined, -0.01]), '2'],
  ['a tie of votes by the log-probability', majority, voting(['7', -0.4], ['8', -0.2]), '1'],
  ['a tie of log-probabilities by the order', majority, voting(['7', -0.4], ['8', -0.4]), '0'],
  ['the likelihood without answers', majority, silent, '1, undecided'],
  ['the mean log-probability', likeliest, lengths, '1'],
  ['the unweighted score of a reward', byJudge, both, '1'],
  ['negative scores before none', byJudge, scored(undefined, { judge: -3 }), '1'],
  ['the likelihood without scores', byJudge, [attempt(-0.5), attempt(-0.1)], '1, undecided'],
  // Forfeiting would reveal the verdict.
  ['withheld scores too', byJudge, scored({ judge: 0.5 }, { judge: 0 }, { judge: 0.9 }), '1'],
] as const)('a strategy decides by %s', (_, strategy, attempts, expected) => {
  const { index, undecided } = chooseAttempt(attempts, strategy);
  expect(`${index}${undecided ? ', undecided' : ''}`).toBe(expected);
});

test('no strategy depends on the verdict', () => {
  const attempts = fc.array(
    fc.record({
      answer: fc.constantFrom('a', 'b', 'c', undefined),
      logProb: fc.constantFrom(-0.1, -0.2, -0.3),
      judge: fc.constantFrom(0, 0.5, 1, undefined),
      success: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(attempts, fc.constantFrom(majority, likeliest, byJudge), (sketches, strategy) => {
      const ended = (solved: (one: (typeof sketches)[number]) => boolean) =>
        sketches.map((one) => {
          const success = solved(one);
          const { answer, judge } = one;
          const judged = judge === undefined ? {} : { judge };
          const scores = { environment: Number(success), ...judged };
          const reward = Number(success);
          return attempt(one.logProb, { success, reward, scores, answer });
        });
      const right = ended(({ success }) => success);
      const wrong = ended(({ success }) => !success);
      expect(chooseAttempt(right, strategy)).toEqual(chooseAttempt(wrong, strategy));
    }),
  );
});
