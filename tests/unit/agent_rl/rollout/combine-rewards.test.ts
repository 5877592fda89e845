import { describe, expect, test } from '@jest/globals';

import { failureOf } from '#agent_rl/core/failure.ts';
import type { Task } from '#agent_rl/core/tasks/task.ts';
import type { EpisodeView } from '#agent_rl/core/plugins/reward.ts';
import { combineRewards, type WeightedReward } from '#agent_rl/rollout/combine-rewards.ts';
import { episodeOf } from '#tests/support/episodes.ts';

const judged = (reward: number | undefined, view = episodeOf({}, [])): EpisodeView => ({
  ...view,
  verdict: { ...view.verdict, reward, components: { success: 1, timeout: -0.5 } },
});
const plain = {
  environmentWeight: 1,
  invalidCalls: 0,
  invalidCallPenalty: 0.2,
  turns: { stepped: 2, sampled: 3 },
};
const gives = (name: string, weight: number, value: number | undefined): WeightedReward => ({
  name,
  weight,
  score: () => value,
});

describe('The reward of an episode', () => {
  test('adds the weighted rewards that apply, and subtracts the penalty for invalid calls', async () => {
    // One is named like a property of every object.
    const own = gives('constructor', 2, 0.25);
    const rewards = [own, gives('b', 3, undefined), gives('c', 0, 7)];
    const options = { ...plain, rewards, invalidCalls: 2 };
    // 0.5 + 2 * 0.25 + 0 * 7 - 2 * 0.2
    expect(await combineRewards(judged(0.5), options)).toEqual({
      reward: 0.6,
      components: { success: 1, timeout: -0.5, constructor: 0.5, c: 0, invalidCalls: -0.4 },
      scores: { environment: 0.5, constructor: 0.25, c: 7 },
    });
  });

  test("weights the environment's components, or only logs their sum", async () => {
    const half = { ...plain, environmentWeight: 0.5, rewards: [gives('a', 1, 1)] };
    expect(await combineRewards(judged(0.5), half)).toEqual({
      reward: 1.25,
      components: { success: 0.5, timeout: -0.25, a: 1 },
      scores: { environment: 0.5, a: 1 },
    });
    const none = { ...half, environmentWeight: 0 };
    expect(await combineRewards(judged(-0.5), none)).toEqual({
      reward: 1,
      components: { a: 1 },
      scores: { environment: -0.5, a: 1 },
    });
  });

  test('names the reward that threw, and the place', async () => {
    const score = (): never => {
      throw new Error('no such column');
    };
    const rewards = [{ name: 'table', weight: 1, score }];
    await expect(combineRewards(judged(0.5), { ...plain, rewards })).rejects.toThrow(
      /^Reward "table" failed \(tests.*combine-rewards\.test\.ts:\d+:\d+\): no such column$/,
    );
  });

  test('only has costs of other rewards in a forfeited episode', async () => {
    const rewards = [gives('a', 2, 0.5), gives('b', 1, -0.25), gives('c', -1, 1), gives('d', 0, 7)];
    const view = judged(0);
    const forfeited = { ...view, verdict: { ...view.verdict, components: {}, forfeited: true } };
    expect(await combineRewards(forfeited, { ...plain, rewards })).toEqual({
      reward: -1.25,
      components: { a: 0, b: -0.25, c: -1, d: 0 },
      scores: { environment: 0, a: 0, b: -0.25, c: 1, d: 7 },
      unpaid: { a: 0.5 },
    });
  });

  test('hides the verdict and the answer from blind rewards', async () => {
    const seen: EpisodeView[] = [];
    const view = judged(1, {
      ...episodeOf({}, []),
      task: { taskId: 't', prompt: 'Why?', metadata: { answer: 'so' }, answer: 'so' } as Task,
    });
    const score = (episode: EpisodeView): number => seen.push(episode);
    const blind = { name: 'a', weight: 1, blind: true };
    await combineRewards(view, { ...plain, rewards: [{ ...blind, score }] });
    expect(seen[0]?.task).toEqual({ taskId: 't', prompt: 'Why?', metadata: {} });
    expect(seen[0]?.messages).toEqual(view.messages);
    const peeks = ({ verdict }: EpisodeView): number => Number(verdict.success);
    const rewards = [{ ...blind, tool: 'search', score: peeks }];
    await expect(combineRewards(view, { ...plain, rewards })).rejects.toThrow('declared as blind');
  });

  test('is absent after a system failure, without scoring', async () => {
    const score = () => Promise.reject(new Error('never asked'));
    const options = { ...plain, rewards: [{ name: 'a', weight: 1, score }] };
    const { reward, scores } = await combineRewards(judged(undefined), options);
    expect([reward, scores]).toEqual([undefined, {}]);
  });

  test.each([
    ['a sum that is too large', gives('a', 1, 2e6), 'The sum of the rewards is 2000001; expected'],
    ['a number that is not finite', gives('a', 0, Infinity), 'its score is Infinity; expected'],
  ])('is a failure of the plugin with %s', async (_, reward, says) => {
    const combined = combineRewards(judged(1), { ...plain, rewards: [reward] });
    const thrown = await combined.catch((one: unknown) => one);
    expect(String(thrown)).toContain(says);
    expect(failureOf(thrown)).toEqual({ owner: 'plugin', retryable: false });
  });
});

describe('A reward on one tool', () => {
  const both = [{ tool: 'search', content: 'hit' }, { tool: 'calculator' }];
  const all = [{ calls: both }, { calls: [{ tool: 'calculator' }] }, { said: 'so' }];
  const view = judged(0, episodeOf({}, all));
  const seen = async (tool?: string): Promise<EpisodeView> => {
    const views: EpisodeView[] = [];
    const score = (given: EpisodeView): number => views.push(given);
    const rewards = [{ name: 'a', weight: 1, score, ...(tool !== undefined && { tool }) }];
    await combineRewards(view, { ...plain, rewards });
    return views[0] as EpisodeView;
  };

  test('only sees the calls and results of that tool, in their turns', async () => {
    const { turns, messages, task } = await seen('search');
    const names = turns.map(({ calls }) => calls.map(({ call }) => call.name));
    expect(names).toEqual([['search'], [], []]);
    const said = messages.map(({ role, content }) => `${role} ${content}`).join(', ');
    expect(said).toBe('user Why?, assistant , tool hit, assistant , assistant so');
    expect(task).toBe(view.task);
  });

  test('sees everything without a named tool', async () => {
    expect(await seen()).toBe(view);
  });
});
