import { describe, expect, test } from '@jest/globals';

import { reinforcePlusPlus } from '#agent_rl/algorithms/advantages/reinforce-plus-plus.ts';
import type { JudgedGroup } from '#agent_rl/core/plugins/reward-manager.ts';
import { membersOf, type Part } from '#agent_rl/core/rollout.ts';
import { groupOf, part as partOf, rollout } from '#tests/support/rollouts.ts';
import { rolloutsIn } from '#agent_rl/trainer/collect/collection.ts';
import { ranking } from '#agent_rl/rewards/managers/ranking.ts';
import { evaluate } from '#agent_rl/trainer/evaluate.ts';
import { compare } from '#agent_rl/trainer/success-rate.ts';
import { builtinSelection } from '#tests/support/algorithm-parts.ts';
import { never, options, type Script, setUp, trained } from '#tests/support/grpo-trainer-setup.ts';
import { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';

const { algorithm } = options;

const part = (agent: string, sketch: Parameters<typeof partOf>[0]): Part =>
  partOf({ ...sketch, agent });

/** Speakers earn 1 and 0, guessers 0 and 0.5: the mean of all four is neither's. */
const duet: Script = ({ key: { sample } }) =>
  rollout([
    part('speaker', { reward: sample === 0 ? 1 : 0, sampled: 2 }),
    part('guesser', { reward: sample === 0 ? 0 : 0.5, sampled: 3, success: false }),
  ]);

/** The same with something changed of each part. */
const duetWith =
  (change: (part: Part, taskId: string) => Partial<Part>): Script =>
  (request) =>
    rollout(
      duet(request).parts.map((one) => Object.assign({ ...one }, change(one, request.task.taskId))),
    );

const oneIteration = { train: { ...options.train, iterations: 1 } };

/** Advantages of what was learned from, by the number of tokens sampled: 2 of a speaker, 3 of a guesser. */
const advantagesOf = (learner: ReturnType<typeof setUp>['learner']) =>
  learner.batches.flat().map(({ advantages, weights }) => {
    const own = [...advantages].filter((_, place) => weights[place] !== 0);
    return [own.length, own[0]];
  });

describe('Multi-agent training', () => {
  test("compares an attempt only with the same agent's attempts at the task", async () => {
    const { learner, metrics } = await trained(duet, oneIteration);
    const ofTask = [
      [2, 0.5],
      [2, -0.5],
      [3, -0.25],
      [3, 0.25],
    ];
    expect(advantagesOf(learner)).toEqual([...ofTask, ...ofTask]);
    expect(metrics[0]).toMatchObject({
      'rollout/episodes': 4,
      'rollout/scored': 4,
      'rollout/sampledTokens': 20,
      'ledger/trained': 20,
      'ledger/untrained': 0,
      'group/count': 4,
      'agentReward/speaker': 0.5,
      'agentReward/guesser': 0.25,
      'agentSuccess/speaker': 0.5,
      'agentSuccess/guesser': 0,
      'rollout/successRate': 0,
    });
  });

  test('does not train on an agent that does not learn, and books its tokens', async () => {
    const frozen = duetWith(({ agent }) => ({ learns: agent !== 'guesser' }));
    const { learner, metrics } = await trained(frozen, oneIteration);
    expect(advantagesOf(learner).map(([tokens]) => tokens)).toEqual([2, 2, 2, 2]);
    expect(metrics[0]).toMatchObject({
      'ledger/trained': 8,
      'ledger/untrained': 12,
      'rollout/sampledTokens': 20,
      'group/count': 2,
      // Those that learn decide.
      'rollout/successRate': 0.5,
    });
  });

  test('excludes agents that do not learn from batch-wide advantages', async () => {
    const seen: unknown[] = [];
    const frozen = duetWith(({ agent }) => ({ learns: agent !== 'speaker' }));
    const advantage: typeof algorithm.advantage = {
      name: 'seeing',
      of: (groups) => {
        seen.push(...groups);
        return groups;
      },
    };
    const { learner } = await trained(frozen, {
      ...oneIteration,
      algorithm: { ...algorithm, advantage },
    });
    expect(seen).toEqual([
      [0, 0.5],
      [0, 0.5],
    ]);
    // One of each group has an advantage of 0, and is not sent.
    expect(advantagesOf(learner)).toEqual([
      [3, 0.5],
      [3, 0.5],
    ]);
  });

  test('normalises over a whole batch per agent', async () => {
    // Guessers earn ten more than speakers.
    const unequal = duetWith(({ agent, reward = 0 }) => ({
      reward: agent === 'guesser' ? reward + 10 : reward,
    }));
    const { learner } = await trained(unequal, {
      ...oneIteration,
      algorithm: {
        ...algorithm,
        advantage: {
          name: 'reinforce-plus-plus',
          of: (groups) => reinforcePlusPlus(groups, { baseline: 'none', eps: 0 }),
        },
      },
    });
    const ofTask = [
      [2, 1],
      [2, -1],
      [3, -1],
      [3, 1],
    ];
    expect(advantagesOf(learner)).toEqual([...ofTask, ...ofTask]);
  });

  test('keeps the agents of a task in one optimiser step', async () => {
    const { learner } = await trained(duet, {
      ...oneIteration,
      rollout: { ...options.rollout, tasksPerStep: 3 },
      algorithm: { ...algorithm, updatesPerBatch: 2 },
    });
    // Two tasks and one, of two attempts of two agents each: six groups in halves would split the second task.
    expect(learner.batches.map((data) => data.length)).toEqual([8, 4]);
  });

  test('resamples a task only if no agent can learn from it', async () => {
    // Speakers always earn the same; guessers too, at some tasks.
    const flatFor = (tasks: readonly string[]) =>
      duetWith(({ agent }, taskId) =>
        agent === 'speaker' || tasks.includes(taskId) ? { reward: 1 } : {},
      );
    const dynamic = {
      ...oneIteration,
      algorithm: { ...algorithm, selection: builtinSelection('dynamic', { cap: 1 }) },
    };
    const { rollouts, metrics } = await trained(flatFor(['t1']), dynamic);
    expect([...new Set(rollouts.requests.map(({ task }) => task.taskId))]).toEqual([
      't0',
      't1',
      'again-0-1-0',
    ]);
    // Both agents' tokens of the dropped task are booked.
    expect(metrics[0]).toMatchObject({ 'ledger/resampled': 10, 'group/resampled': 2 });
  });

  test('replaces and counts failures by episode', async () => {
    const failing: Script = (request) =>
      request.key.sample === 0 && request.task.taskId === 't0'
        ? rollout([
            part('speaker', { outcome: 'infrastructure-error', sampled: 2 }),
            part('guesser', { outcome: 'infrastructure-error', sampled: 0 }),
          ])
        : duet(request);
    const { outcomes } = options.rollout;
    const { rollouts, metrics } = await trained(failing, {
      ...oneIteration,
      rollout: { ...options.rollout, outcomes: { ...outcomes, 'infrastructure-error': 'replace' } },
    });
    expect(rollouts.requests.map(({ task, key: { sample } }) => task.taskId + sample)).toEqual([
      't00',
      't01',
      't10',
      't11',
      't02',
    ]);
    expect(metrics[0]).toMatchObject({
      'rollout/episodes': 5,
      'rollout/failed': 1,
      'ledger/infrastructure': 2,
      'outcome/infrastructure-error': 2,
    });
  });

  test('does not compare an agent without a turn', async () => {
    // At each task the guesser is asked in the first attempt alone.
    const { learner, metrics } = await trained(
      ({ key: { sample } }) =>
        rollout([
          part('speaker', { reward: 1 - sample, sampled: 2 }),
          part('guesser', { reward: 1 - sample, sampled: sample === 0 ? 3 : 0 }),
        ]),
      oneIteration,
    );
    expect(advantagesOf(learner)).toEqual([
      [2, 0.5],
      [2, -0.5],
      [2, 0.5],
      [2, -0.5],
    ]);
    expect(metrics[0]).toMatchObject({ 'ledger/zero-advantage': 6, 'group/leftOut': 0 });
  });

  test('hides an agent without a turn from the reward manager, and does not penalise it', async () => {
    const shown: number[] = [];
    const assign = (group: JudgedGroup) => {
      shown.push(group.episodes.length);
      return ranking(group);
    };
    const failing: Script = ({ key: { sample } }) => {
      const verdict =
        sample === 1 ? ({ outcome: 'infrastructure-error' } as const) : { reward: sample };
      return rollout([
        part('speaker', { ...verdict, sampled: 2 }),
        part('guesser', { ...verdict, sampled: sample === 2 ? 3 : 0 }),
      ]);
    };
    const { outcomes, failures } = options.rollout;
    const { metrics } = await trained(
      failing,
      {
        ...oneIteration,
        rollout: {
          ...options.rollout,
          groupSize: 3,
          tasksPerStep: 1,
          outcomes: { ...outcomes, 'infrastructure-error': 'penalise' },
          failures: { ...failures, maxShare: 1 },
        },
      },
      {},
      {
        rewarding: {
          name: 'mine',
          manager: { assign },
          terms: [{ name: 'environment', weight: 1 }],
        },
      },
    );
    // The speaker's attempts but for the one that failed; the guesser's one attempt with a turn.
    expect(shown).toEqual([2, 1]);
    // The speaker's failure: the guesser had no turn in that attempt.
    expect(metrics[0]).toMatchObject({ 'rollout/penalised': 1, 'group/leftOut': 0 });
  });

  test('continues from a checkpoint as if it had not stopped', async () => {
    const whole = setUp(duet);
    await whole.trainer.train(never);
    const first = setUp(duet, oneIteration);
    await first.trainer.train(never);
    const second = setUp(duet);
    second.trainer.restore(first.trainer.state());
    await second.trainer.train(never);
    expect([...first.rollouts.requests, ...second.rollouts.requests]).toEqual(
      whole.rollouts.requests,
    );
    expect([...first.learner.batches, ...second.learner.batches]).toEqual(whole.learner.batches);
  });

  test('shuffles rewards per agent', async () => {
    const { learner } = await trained(
      ({ key: { sample } }) =>
        rollout([
          part('speaker', { reward: sample, sampled: 2 }),
          part('guesser', { reward: 10 + sample, sampled: 3 }),
        ]),
      { train: { ...options.train, iterations: 4, control: 'shuffled-rewards' } },
    );
    // With a speaker's reward among guessers' some advantage would be near 5.
    expect(learner.batches.length).toBeGreaterThan(0);
    for (const [, advantage] of advantagesOf(learner))
      expect(Math.abs(advantage ?? Number.NaN)).toBeLessThanOrEqual(0.5);
  });
});

describe('A multi-agent evaluation', () => {
  const tasks = ['a', 'b'].map((taskId) => ({ taskId, prompt: '', metadata: {} }));
  const settings = { samples: 2, temperature: 1, seed: 3, step: 0, signal: never };
  /** Both solve a; of b the speaker alone, once. */
  const rollouts = (better = false) =>
    new ScriptedRollouts(({ task: { taskId }, key: { sample } }) => {
      const both = taskId === 'a' || better;
      return rollout([
        part('speaker', { reward: both || sample === 0 ? 1 : 0, metrics: { words: 3 } }),
        part('guesser', { reward: both ? 1 : 0, metrics: { words: 1 } }),
      ]);
    });

  test('counts an attempt as solved if all learning agents solved it, and counts each agent', async () => {
    const result = await evaluate(rollouts(), tasks, settings);
    expect(result).toMatchObject({ n: 4, successes: 2, systemFailures: 0, tasks: 2 });
    expect(result.groups['agent speaker']).toMatchObject({ n: 4, successes: 3 });
    expect(result.groups['agent guesser']).toMatchObject({ n: 4, successes: 2 });
    expect(result.environment).toEqual({ 'speaker/words': 3, 'guesser/words': 1 });
    expect(result.rollouts.flatMap(membersOf)).toHaveLength(8);
  });

  test('excludes agents that do not learn from the mean reward', async () => {
    const frozen = new ScriptedRollouts(() =>
      rollout([part('speaker', { reward: 0.25 }), part('guesser', { reward: 1, learns: false })]),
    );
    expect(await evaluate(frozen, tasks, settings)).toMatchObject({ rewardMean: 0.25 });
  });

  test('reports the change for each agent', async () => {
    const [before, after] = [
      await evaluate(rollouts(), tasks, settings),
      await evaluate(rollouts(true), tasks, settings),
    ];
    const changed = compare(before.perTask, after.perTask, 3);
    expect(changed?.difference).toBe(0.5);
    expect(changed?.groups['agent speaker']?.difference).toBe(0.25);
    expect(changed?.groups['agent guesser']?.difference).toBe(0.5);
  });
});

test("rollouts of a collection have all parts with the reward managers' rewards", () => {
  const duets = [0, 1].map((sample) =>
    rollout([part('speaker', {}), part('guesser', {})], { sample }),
  );
  const judged = part('speaker', { reward: 4 });
  const groups = ['speaker', 'guesser'].map((agent) => {
    const own = duets.flatMap(membersOf).filter((one) => one.part.agent === agent);
    const [first, ...others] = own;
    if (first === undefined) throw new Error('There is no member.');
    const left = agent === 'speaker' ? { ...first, part: judged } : first;
    return groupOf([left, ...others]);
  });
  expect(rolloutsIn({ groups: [groups], discarded: [] })).toEqual([
    { ...duets[0], parts: [judged, duets[0]?.parts[1]] },
    duets[1],
  ]);
});
