import { describe, expect, test } from '@jest/globals';

import type { Outcome } from '#agent_rl/core/outcome.ts';
import type { Part, Rollout } from '#agent_rl/core/rollout.ts';
import { FailureGuard } from '#agent_rl/trainer/collect/failure-guard.ts';
import type { GrpoOptions } from '#agent_rl/trainer/training-options.ts';
import { never, options, type Script, setUp, trained } from '#tests/support/grpo-trainer-setup.ts';
import { part, played, rollout, sequence } from '#tests/support/rollouts.ts';
import { groupRelativeBy } from '#tests/support/algorithm-parts.ts';

type Outcomes = GrpoOptions['rollout']['outcomes'];

const rolloutWith = (
  outcomes: Partial<Outcomes>,
  failures: Partial<GrpoOptions['rollout']['failures']> = {},
) => ({
  ...options.rollout,
  outcomes: { ...options.rollout.outcomes, ...outcomes },
  failures: { ...options.rollout.failures, ...failures },
});

/** One iteration of one group of four. */
const trainOne = async (script: Script, settings: GrpoOptions['rollout']) => {
  const set = setUp(script, {
    rollout: { ...settings, tasksPerStep: 1, groupSize: 4 },
    train: { ...options.train, iterations: 1 },
  });
  await set.trainer.train(never);
  const advantages = set.learner.batches.flat().map((datum) => datum.advantages[2]);
  return { ...set, advantages, metrics: set.metrics[0] ?? {} };
};

const thirdFails =
  (outcome: Outcome): Script =>
  ({ key: { sample } }) =>
    sample === 2 ? played({ outcome }) : played({ reward: sample === 0 ? 1 : 0 });

describe('A failed episode', () => {
  test('does not affect its siblings when it is left out', async () => {
    // Rewards 1, 0, 0 have the mean 1/3.
    const { advantages } = await trainOne(thirdFails('grader-error'), rolloutWith({}));
    expect(advantages.map((one) => one?.toFixed(4))).toEqual(['0.6667', '-0.3333', '-0.3333']);
  });

  test('is replaced by the next sample of its group, if the run says so', async () => {
    const { advantages, rollouts, metrics } = await trainOne(
      thirdFails('grader-error'),
      rolloutWith({ 'grader-error': 'replace' }),
    );
    expect(rollouts.requests.map(({ key: { sample } }) => sample)).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(rollouts.requests.map(({ seed }) => seed)).size).toBe(1);
    expect(advantages).toEqual([0.75, -0.25, -0.25, -0.25]);
    expect(metrics).toMatchObject({ 'rollout/episodes': 5, 'ledger/grader': 3 });
  });

  test('is replaced no more often than failures.retries allows', async () => {
    const script: Script = ({ key: { sample } }) =>
      sample < 2 ? played({ reward: sample }) : played({ outcome: 'grader-error' });
    const { rollouts, advantages } = await trainOne(
      script,
      rolloutWith({ 'grader-error': 'replace' }, { retries: 2 }),
    );
    expect(rollouts.requests.map(({ key: { sample } }) => sample)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7,
    ]);
    expect(advantages).toEqual([-0.5, 0.5]);
  });

  test('is trained on the penalty, if the run says so', async () => {
    // Rewards 1, 0, -1, 0 have the mean 0.
    const { advantages, metrics } = await trainOne(
      thirdFails('infrastructure-error'),
      rolloutWith({ 'infrastructure-error': 'penalise' }, { penalty: -1 }),
    );
    expect(advantages).toEqual([1, 0, -1, 0].filter((one) => one !== 0));
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

/** Ways in which the system fails an episode, and what such an episode may hold. */
const failures: [string, Partial<Part>][] = [
  ['before its prompt', { sequences: [], turns: 0 }],
  ['after its prompt', { sequences: [{ tokens: [1, 2], logProbs: [0, 0], spans: [] }] }],
  ['while it samples', { outcome: 'infrastructure-error' }],
  ['while it is judged', { outcome: 'grader-error' }],
  ['when it is cancelled', { outcome: 'aborted' }],
  ['after a tool failed', { calls: [called('error', 'no index')] }],
  ['after a tool ran out of time', { calls: [called('timeout')] }],
  ['after a hundred turns', { turns: 100 }],
  [
    'with probabilities that are not numbers',
    { sequences: [{ ...sequence(2, 3), logProbs: [0, 0, Number.NaN, Infinity, 1] }] },
  ],
  ['with parts of a reward', { components: { solved: 1e308 }, scores: { environment: 1e308 } }],
  ['and claims success', { success: true }],
  ['after attempts that failed too', { retries: ['busy', 'busy'] }],
];

describe('The data of its siblings', () => {
  const sent = async (script: Script, groupSize: number) => {
    const { learner } = await trained(script, {
      rollout: { ...options.rollout, tasksPerStep: 2, groupSize },
      train: { ...options.train, iterations: 1 },
      algorithm: { ...options.algorithm, advantage: groupRelativeBy({ std: 'sample', eps: 1e-4 }) },
    });
    return learner.batches.flat();
  };
  const rewarded = (sample: number) => played({ reward: [1, 0.3, 0][sample] ?? 0 });

  test.each(failures)(
    'equal the data without an episode that fails %s, bit for bit',
    async (_, kind) => {
      const without = await sent(({ key: { sample } }) => rewarded(sample), 3);
      const withFailed = await sent(
        ({ key: { sample } }) =>
          sample === 3
            ? rollout([
                { ...part({ outcome: 'infrastructure-error' }), ...kind, reward: undefined },
              ])
            : rewarded(sample),
        4,
      );
      expect(without).toHaveLength(6);
      expect(withFailed).toEqual(without);
    },
  );
});

describe('An episode that ended badly', () => {
  const badly: Script = ({ key: { sample } }) =>
    played({ reward: sample === 0 ? 1 : 0, outcome: sample === 3 ? 'invalid-calls' : 'completed' });

  test.each([
    ['train', ['0.7500', '-0.2500', '-0.2500', '-0.2500']],
    ['mask', ['0.7500', '-0.2500', '-0.2500']],
    // Rewards 1, 0, 0, -3 have the mean -0.5.
    ['penalise', ['1.5000', '0.5000', '0.5000', '-2.5000']],
  ] as const)('has the expected advantages with the action %s', async (action, expected) => {
    const { advantages } = await trainOne(
      badly,
      rolloutWith({ 'invalid-calls': action }, { penalty: -3 }),
    );
    expect(advantages.map((one) => one?.toFixed(4))).toEqual(expected);
  });
});

describe('FailureGuard', () => {
  const failing = (count: number, of: number): Rollout[] =>
    Array.from({ length: of }, (_, index) =>
      played(index < count ? { outcome: 'infrastructure-error' } : { reward: 1 }),
    );
  const guard = () => new FailureGuard({ maxShare: 0.05, maxInARow: 3 });

  test.each([
    // The lower end of the Wilson interval is 1.1 % for 1 of 16; 5.1 % are within what luck makes of 5 %.
    [0, 16],
    [1, 16],
    [51, 1000],
  ])('lets a run with %i failures of %i continue', (count, of) => {
    expect(() => guard().check(failing(count, of))).not.toThrow();
  });

  test.each([
    // The lower end is 6.6 % for 3 of 16.
    [3, 16],
    [8, 16],
    [80, 1000],
  ])('ends a run with %i failures of %i', (count, of) => {
    expect(() => guard().check(failing(count, of))).toThrow(`${count} of ${of} episodes failed`);
  });

  test('adds up iterations, so that a few failures in each are noticed', () => {
    const before = Array.from({ length: 9 }, () => ({ episodes: 16, failed: 2 }));
    expect(() => guard().check(failing(2, 16))).not.toThrow();
    expect(() => guard().check(failing(2, 16), before)).toThrow(
      '20 of 160 episodes of the last 10 iterations failed, more than rollout.failures.maxShare = 0.05 allows. The first (task t) ended as infrastructure-error: it broke',
    );
  });

  test('counts an episode whose tool failed, even with a reward', () => {
    const call = {
      call: { id: 'call_0_0', name: 'look', arguments: {} },
      status: 'error',
      result: { content: '' },
      wallMs: 1,
      problem: 'Tool "look" failed: no index',
    } as const;
    const broken = Array.from({ length: 16 }, () => played({ reward: 1, calls: [call] }));
    expect(() => guard().check(broken)).toThrow('completed: Tool "look" failed: no index');
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
