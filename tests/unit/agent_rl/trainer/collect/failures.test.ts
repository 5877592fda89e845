import { describe, expect, test } from '@jest/globals';

import type { Outcome } from '#agent_rl/core/outcome.ts';
import type { Part, Rollout } from '#agent_rl/core/rollout.ts';
import { FailureGuard } from '#agent_rl/trainer/collect/failure-guard.ts';
import { groupRelativeBy } from '#tests/support/algorithm-parts.ts';
import { type Changes, type Script, trained } from '#tests/support/grpo-trainer-setup.ts';
import { part, played, rollout, sequence } from '#tests/support/rollouts.ts';

type Settings = NonNullable<Changes['rollout']>;

/** One iteration of one group of four. */
const trainOne = async (
  script: Script,
  outcomes: Settings['outcomes'] = {},
  failures: Settings['failures'] = {},
) => {
  const { learner, rollouts, metrics } = await trained(script, {
    rollout: { outcomes, failures, tasksPerStep: 1, groupSize: 4 },
    train: { iterations: 1 },
  });
  const advantages = learner.batches.flat().map((datum) => datum.advantages[2]?.toFixed(4));
  return { rollouts, advantages, metrics: metrics[0] ?? {} };
};

const thirdFails =
  (outcome: Outcome): Script =>
  ({ key: { sample } }) =>
    sample === 2 ? played({ outcome }) : played({ reward: sample === 0 ? 1 : 0 });

describe('A failed episode', () => {
  test('does not affect its siblings when it is left out', async () => {
    // Rewards 1, 0, 0 have the mean 1/3.
    const { advantages, metrics } = await trainOne(thirdFails('grader-error'));
    expect(advantages).toEqual(['0.6667', '-0.3333', '-0.3333']);
    expect(metrics).toMatchObject({ 'rollout/scored': 3, 'ledger/grader': 3, 'ledger/trained': 9 });
  });

  test('is replaced by the next sample of its group, if the run says so', async () => {
    const outcomes = { 'grader-error': 'replace' } as const;
    const { advantages, rollouts, metrics } = await trainOne(thirdFails('grader-error'), outcomes);
    expect(rollouts.requests.map(({ key: { sample } }) => sample)).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(rollouts.requests.map(({ seed }) => seed)).size).toBe(1);
    expect(advantages).toEqual(['0.7500', '-0.2500', '-0.2500', '-0.2500']);
    expect(metrics).toMatchObject({ 'rollout/episodes': 5, 'ledger/grader': 3 });
  });

  test('is replaced no more often than failures.retries allows', async () => {
    const script: Script = ({ key: { sample } }) =>
      sample < 2 ? played({ reward: sample }) : played({ outcome: 'grader-error' });
    const outcomes = { 'grader-error': 'replace' } as const;
    const { rollouts, advantages } = await trainOne(script, outcomes, { retries: 2 });
    expect(rollouts.requests).toHaveLength(8);
    expect(rollouts.requests.at(-1)?.key.sample).toBe(7);
    expect(advantages).toEqual(['-0.5000', '0.5000']);
  });

  test('is trained on the penalty, if the run says so', async () => {
    // Rewards 1, 0, -1, 0 have the mean 0, and two no advantage.
    const { advantages, metrics } = await trainOne(
      thirdFails('infrastructure-error'),
      { 'infrastructure-error': 'penalise' },
      { penalty: -1 },
    );
    expect(advantages).toEqual(['1.0000', '-1.0000']);
    expect(metrics).toMatchObject({ 'rollout/failed': 1, 'rollout/penalised': 1 });
  });
});

const called = (status: 'ok' | 'error' | 'timeout', problem?: string) => ({
  call: { id: 'call_0_0', name: 'look', arguments: {} },
  status,
  result: { content: '' },
  wallMs: 1,
  ...(problem !== undefined && { problem }),
});

const logProbs = [0, 0, Number.NaN, Infinity, 1];
/** Ways in which the system fails an episode, and what such an episode may hold. */
const failures: [string, Partial<Part>][] = [
  ['before its prompt', { sequences: [], turns: 0 }],
  ['after its prompt', { sequences: [{ tokens: [1, 2], logProbs: [0, 0], spans: [] }] }],
  ['while it is judged', { outcome: 'grader-error' }],
  ['when it is cancelled', { outcome: 'aborted' }],
  ['after a tool failed', { calls: [called('error', 'no index')], retries: ['busy'] }],
  ['with probabilities that are no numbers', { sequences: [{ ...sequence(2, 3), logProbs }] }],
  ['and claims success', { success: true, components: { solved: 1e308 } }],
];

describe('The data of its siblings', () => {
  const sent = async (script: Script, groupSize: number) => {
    const { learner } = await trained(script, {
      rollout: { groupSize },
      train: { iterations: 1 },
      algorithm: { advantage: groupRelativeBy({ std: 'sample', eps: 1e-4 }) },
    });
    return learner.batches.flat();
  };
  const rewarded: Script = ({ key: { sample } }) => played({ reward: [1, 0.3, 0][sample] ?? 0 });

  test.each(failures)('equal the data without an episode that fails %s', async (_, kind) => {
    const plain = () => part({ outcome: 'infrastructure-error' });
    const failed = () => rollout([{ ...plain(), ...kind, reward: undefined }]);
    const script: Script = (one) => (one.key.sample === 3 ? failed() : rewarded(one));
    const withFailed = await sent(script, 4);
    expect(withFailed).toHaveLength(6);
    expect(withFailed).toEqual(await sent(rewarded, 3));
  });
});

test.each([
  ['train', ['0.7500', '-0.2500', '-0.2500', '-0.2500'], 0],
  ['mask', ['0.7500', '-0.2500', '-0.2500'], 3],
  // Rewards 1, 0, 0, -3 have the mean -0.5.
  ['penalise', ['1.5000', '0.5000', '0.5000', '-2.5000'], 0],
] as const)('the action %s decides what a bad end is worth', async (action, expected, masked) => {
  const badly: Script = ({ key: { sample } }) =>
    played({
      reward: sample === 0 ? 1 : 0,
      outcome: sample === 3 ? 'invalid-calls' : 'completed',
    });
  const { advantages, metrics } = await trainOne(
    badly,
    { 'invalid-calls': action },
    { penalty: -3 },
  );
  expect(advantages).toEqual(expected);
  expect(metrics['ledger/masked']).toBe(masked);
});

describe('FailureGuard', () => {
  const failing = (count: number, of: number): Rollout[] =>
    Array.from({ length: of }, (_, index) =>
      played(index < count ? { outcome: 'infrastructure-error' } : { reward: 1 }),
    );
  const guard = () => new FailureGuard({ maxShare: 0.05, maxInARow: 3 });

  const endOf = (rollouts: readonly Rollout[]): string => {
    try {
      guard().check(rollouts);
    } catch (error) {
      return String(error);
    }
    return 'it goes on';
  };

  test.each([
    // The lower end of the Wilson interval is 1.1 % for 1 of 16 and 6.6 % for 3.
    [1, 16, 'it goes on'],
    [3, 16, '3 of 16 episodes failed'],
    // 5.1 % are within what luck makes of 5 %.
    [51, 1000, 'it goes on'],
    [80, 1000, '80 of 1000 episodes failed'],
  ])('ends a run with %i failures of %i only if luck does not explain them', (count, of, end) => {
    expect(endOf(failing(count, of))).toContain(end);
  });

  test('adds up iterations, so that a few failures in each are noticed', () => {
    const before = Array.from({ length: 9 }, () => ({ episodes: 16, failed: 2 }));
    expect(() => guard().check(failing(2, 16))).not.toThrow();
    expect(() => guard().check(failing(2, 16), before)).toThrow(
      '20 of 160 episodes of the last 10 iterations failed, more than rollout.failures.maxShare = 0.05 allows. The first (task t) ended as infrastructure-error: it broke',
    );
  });

  test('counts an episode whose tool failed, even with a reward', () => {
    const calls = [called('error', 'no index')];
    const broken = Array.from({ length: 16 }, () => played({ reward: 1, calls }));
    expect(() => guard().check(broken)).toThrow('completed: no index');
  });

  test('stops after consecutive failures, which a success resets', () => {
    const one = guard();
    const [bad, good] = failing(1, 2) as [Rollout, Rollout];
    for (const next of [bad, bad, good, bad, bad]) one.note(next);
    expect(() => one.note(bad)).toThrow(
      '3 consecutive episodes failed (rollout.failures.maxInARow)',
    );
  });
});
