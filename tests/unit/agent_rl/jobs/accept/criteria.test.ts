import { describe, expect, test } from '@jest/globals';

import { acceptReport } from '#agent_rl/jobs/accept/accept-report.ts';
import { criteria, type Found } from '#agent_rl/jobs/accept/criteria.ts';

const line = (iteration: number, over: Readonly<Record<string, number>> = {}) => ({
  iteration,
  metrics: {
    'parity/maxAbsLogProbGap': 9e-4,
    'train/gradNorm': 0.5,
    'rollout/failed': 0,
    'rollout/successRate': 0.25,
    ...over,
  },
});

const summary = {
  sessions: 2,
  meanAbsLogProbGap: 1e-5,
  machines: [],
  eval: { before: null, after: null, difference: null },
};
const found = (over: Partial<Found> = {}): Found => ({
  summary,
  lines: [line(1), line(2), line(3), line(4)],
  texts: { texts: 6, changed: [] },
  exportedBytes: 2 ** 20,
  ...over,
});
/** With these metrics in its second iteration. */
const inSecond = (over: Readonly<Record<string, number>>) => ({
  lines: [line(1), line(2, over), line(3), line(4)],
});

const asked = { iterations: 4, device: 'cpu' };
const missed = (over: Partial<Found>, options = asked): string[] =>
  criteria(found(over), options).flatMap(({ met, name }) => (met ? [] : [name]));

describe('A model', () => {
  test('meets every criterion where all is well', () => {
    expect(missed({})).toEqual([]);
  });

  test.each<[Partial<Found>, RegExp]>([
    [{ texts: { texts: 6, changed: ['na?ve'] } }, /decodes texts/],
    [inSecond({ 'rollout/failed': 1 }), /episodes end/],
    [inSecond({ 'parity/maxAbsLogProbGap': 2e-3 }), /agree/],
    [{ summary: { ...summary, meanAbsLogProbGap: 2e-4 } }, /agree/],
    [{ summary: { ...summary, meanAbsLogProbGap: null } }, /agree/],
    [inSecond({ 'train/gradNorm': Infinity }), /gradients/],
    [
      { lines: [1, 2, 3, 4].map((i) => line(i, i > 1 ? { 'train/gradNorm': 0 } : {})) },
      /gradients/,
    ],
    [{ summary: { ...summary, sessions: 1 } }, /stopped run/],
    [{ lines: [line(1), line(2), line(2), line(4)] }, /stopped run/],
    [{ exportedBytes: 0 }, /exported/],
  ])('misses a criterion: %j', (over, name) => {
    expect(missed(over)).toEqual([expect.stringMatching(name)]);
  });

  test('is not accepted when nothing was compared or updated', () => {
    const metrics = { 'rollout/failed': 0 };
    const lines = [1, 2, 3, 4].map((iteration) => ({ iteration, metrics }));
    const names = [expect.stringMatching(/agree/), expect.stringMatching(/gradients/)];
    expect(missed({ lines })).toEqual(names);
  });

  test('may differ by more on another device', () => {
    const lines = [1, 2, 3, 4].map((i) => line(i, { 'parity/maxAbsLogProbGap': 5e-3 }));
    expect(missed({ lines })).toHaveLength(1);
    expect(missed({ lines }, { ...asked, device: 'cuda' })).toEqual([]);
  });
});

describe('The report', () => {
  const options = { model: 'a|b', iterations: 4, seed: 1, loraRank: 16 };
  const reportOf = (over: Partial<Found>) => {
    const all = found(over);
    return acceptReport({ ...all, criteria: criteria(all, asked) }, options);
  };

  test('names in its first lines what is missed, and marks it in the table', () => {
    const report = reportOf({ exportedBytes: 0 });
    expect(report).toMatch(/^# a\\\|b\n\n\*\*Not accepted\*\*: the trained model is exported\./);
    expect(report).toContain('| **no** | the trained model is exported |');
    expect(report).toContain('| yes | gradients are finite and not all zero |');
  });

  test.each([
    [0.1, 0.3, /^It learned: \+20\.0 \[\+10\.0, \+30\.0\]/],
    [-0.1, 0.3, /^This run does not show that the model learned \(\+20\.0 \[-10\.0, \+30\.0\]/],
  ])('says that it learned only where the interval is above 0: from %d', (low, high, said) => {
    const interval95 = { over: 'tasks', low, high, clusters: 100, method: 'cluster-bootstrap' };
    const difference = { difference: 0.2, tasks: 100, interval95 };
    const learned = { ...summary, eval: { before: null, after: null, difference } };
    expect(reportOf({ summary: learned }).split('criteria are met. ')[1]).toMatch(said);
  });
});
