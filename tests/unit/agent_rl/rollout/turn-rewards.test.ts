import { describe, expect, test } from '@jest/globals';

import type { Verdict } from '#agent_rl/core/plugins/environment.ts';
import type { RewardScore } from '#agent_rl/core/plugins/reward.ts';
import { checkVerdict, type TurnCounts } from '#agent_rl/rollout/check-verdict.ts';
import { combineRewards } from '#agent_rl/rollout/combine-rewards.ts';
import { episodeOf } from '#tests/support/episodes.ts';
import { echoing, play, type Setting } from '#tests/support/play-episode.ts';
import { says } from '#tests/support/scripted-policy.ts';

const judged = (more: Partial<Verdict>): Verdict => ({
  outcome: 'completed',
  success: true,
  reward: 1,
  components: { solved: 1 },
  ...more,
});

/** Plays two turns, a call and an answer, under this verdict. */
const played = (more: Partial<Verdict>, setting: Setting = {}) =>
  play({ script: echoing(), environment: { finish: async () => judged(more) }, ...setting });

const scoring = (score: () => RewardScore, weight = 1) => ({ name: 'extra', weight, score });

describe('An episode with rewards by turn', () => {
  test('keeps what the environment says of the rewards and the states of its turns', async () => {
    const { episode } = await played({ turnRewards: [-0.25, 0.5], turnStates: ['a', 'b'] });
    expect(episode).toMatchObject({ reward: 1, turnRewards: [-0.25, 0.5], turnStates: ['a', 'b'] });
  });

  test('has none if neither the environment nor a reward gives any', async () => {
    const parts = { rewards: [scoring(() => 0.5)] };
    const { episode } = await played({}, { parts });
    expect([episode.reward, episode.turnRewards, episode.turnStates]).toEqual([
      1.5,
      undefined,
      undefined,
    ]);
  });

  test('adds the weighted rewards of the environment and of others in each turn', async () => {
    const rewards = [scoring(() => [1, 2], 0.5), { ...scoring(() => [4, 8], 0.25), name: 'other' }];
    const parts = { rewards, environmentWeight: 2 };
    const { episode } = await played({ turnRewards: [-0.25, 0.5] }, { parts });
    expect(episode.turnRewards).toEqual([-0.5 + 0.5 + 1, 1 + 1 + 2]);
    // 2 x 1 + 0.5 x 3 + 0.25 x 12
    expect([episode.reward, episode.scores]).toEqual([
      6.5,
      { environment: 1, extra: 3, other: 12 },
    ]);
  });

  test('gets none from a reward that is only logged', async () => {
    const parts = { rewards: [scoring(() => [1, 2], 0)] };
    const { episode } = await played({}, { parts });
    expect([episode.turnRewards, episode.scores['extra']]).toEqual([undefined, 3]);
  });

  test('counts a turn that was cut off, which the environment did not see', async () => {
    const script: Setting['script'] = ({ key: { turn } }) => ({
      message: turn === 0 ? says('', ['echo', { text: 'x' }]) : says('cut'),
      ...(turn === 1 && { stop: 'max-tokens' as const }),
    });
    const more = {
      turnRewards: [-0.25],
      turnStates: ['a', 'b'],
      outcome: 'truncated-tokens',
    } as const;
    const { episode } = await played({ ...more, success: false }, { script });
    expect(episode).toMatchObject({ turns: 1, turnRewards: [-0.25, 0], turnStates: ['a', 'b'] });
  });

  test('gains nothing from them if it is forfeited, but still loses', async () => {
    const parts = {
      rewards: [scoring(() => [-1, 2]), { ...scoring(() => [-1, 0]), name: 'cost' }],
    };
    const { episode } = await played({ forfeited: true, reward: 0, components: {} }, { parts });
    expect([episode.reward, episode.turnRewards]).toEqual([-1, [-1, 0]]);
  });

  test.each<[Partial<Verdict>, string]>([
    [{ turnRewards: [1] }, 'verdict.turnRewards has 1 entries; expected 2'],
    [{ turnRewards: [1, Number.NaN] }, 'verdict.turnRewards[1] is NaN; expected a finite number'],
    [{ turnRewards: 1 as never }, 'verdict.turnRewards is 1; expected a list of numbers'],
    [{ turnStates: ['a'] }, 'verdict.turnStates has 1 entries; expected 2'],
    [{ turnStates: ['a', 2 as never] }, 'expected a list of names'],
  ])('ends as a grader error for %j', async (more, problem) => {
    const { episode } = await played(more);
    expect(episode).toMatchObject({ outcome: 'grader-error', reward: undefined });
    expect(episode.problem).toContain(problem);
  });

  test('ends as a grader error if a reward gives other numbers than one for each turn', async () => {
    for (const [given, problem] of [
      [[1], 'its score has 1 entries; expected 2'],
      [[1, Number.POSITIVE_INFINITY], 'its score[1] is Infinity'],
    ] as const) {
      const { episode } = await played({}, { parts: { rewards: [scoring(() => given)] } });
      expect(episode.outcome).toBe('grader-error');
      expect(episode.problem).toContain(`Reward "extra"`);
      expect(episode.problem).toContain(problem);
    }
  });

  test('must have as many turns as stretches of sampled tokens, which an external agent may branch', () => {
    const check = (turns: TurnCounts) => () =>
      checkVerdict(judged({ turnRewards: [1, 0] }), undefined, turns);
    expect(check({ stepped: 2, sampled: 2 })).not.toThrow();
    expect(check({ stepped: 2, sampled: 3 })).not.toThrow();
    expect(check({ stepped: 2, sampled: 4 })).toThrow('for 2 turns, but the transcript has 4');
    expect(check({ stepped: 2, sampled: 1 })).toThrow('for 2 turns, but the transcript has 1');
    expect(check({ stepped: 2, sampled: undefined })).toThrow('external agent may branch');
  });

  test('has none if it was not judged', async () => {
    const options = { rewards: [scoring(() => [1])], environmentWeight: 1, invalidCalls: 0 };
    const turns = { stepped: 1, sampled: 1 };
    const view = { ...episodeOf({}, [{}]), verdict: judged({ reward: undefined }) };
    const { turnRewards } = await combineRewards(view, {
      ...options,
      invalidCallPenalty: 0,
      turns,
    });
    expect(turnRewards).toBeUndefined();
  });
});
