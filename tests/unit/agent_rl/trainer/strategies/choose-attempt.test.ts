import { describe, expect, test } from '@jest/globals';

import type { Part, Rollout } from '#agent_rl/core/rollout.ts';
import { chooseAttempt, meanLogProb } from '#agent_rl/trainer/strategies/choose-attempt.ts';
import * as fc from '#tests/support/properties.ts';
import { part, played, rollout, sequence } from '#tests/support/rollouts.ts';

/** An attempt whose two sampled tokens have this log-probability each. */
const attempt = (logProb: number, more: Partial<Part> = {}): Rollout =>
  played({ sequences: [{ ...sequence(1, 2), logProbs: [0, logProb, logProb] }], ...more });
const answering = (answer: string | undefined, logProb: number): Rollout =>
  attempt(logProb, { answer });

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

test.each([
  [
    'majority takes the most frequent answer, and its likeliest attempt',
    majority,
    [answering('7', -0.1), answering('8', -0.9), answering('8', -0.5), answering(undefined, -0.01)],
    { index: 2, undecided: false },
  ],
  [
    'majority breaks a tie by the log-probability',
    majority,
    [answering('7', -0.4), answering('8', -0.2), answering('9', -0.3)],
    { index: 1 },
  ],
  [
    'majority breaks a tie of log-probabilities by the order',
    majority,
    [answering('7', -0.4), answering('8', -0.4)],
    { index: 0 },
  ],
  [
    'majority reports if no attempt answered',
    majority,
    [answering(undefined, -0.9), answering(undefined, -0.5)],
    { index: 1, undecided: true },
  ],
  [
    'best-of-n takes the likeliest attempt by mean log-probability',
    likeliest,
    [attempt(-0.3), played({ sequences: [long] }), attempt(-0.25)],
    { index: 1, undecided: false },
  ],
  [
    'best-of-n takes the highest unweighted score of a reward',
    byJudge,
    [
      attempt(-0.1, { scores: { environment: 1, judge: 0.2 } }),
      attempt(-0.9, { scores: { environment: 0, judge: 0.8 } }),
    ],
    { index: 1 },
  ],
  [
    'best-of-n ranks an attempt without a score below negative scores',
    byJudge,
    [attempt(-0.1), attempt(-0.9, { scores: { judge: -3 } })],
    { index: 1, undecided: false },
  ],
  [
    'best-of-n takes the likeliest attempt if none has a score',
    byJudge,
    [attempt(-0.5), attempt(-0.1)],
    { index: 1, undecided: true },
  ],
  [
    'best-of-n counts withheld scores, since forfeiting would reveal the verdict',
    byJudge,
    [
      attempt(-0.1, { scores: { judge: 0.5 } }),
      attempt(-0.9, { scores: { judge: 0 }, unpaid: { judge: 0.9 } }),
    ],
    { index: 1 },
  ],
])('%s', (_, strategy, attempts, chosen) => {
  expect(chooseAttempt(attempts, strategy)).toMatchObject(chosen);
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
