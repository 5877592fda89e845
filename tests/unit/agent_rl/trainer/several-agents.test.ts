import { describe, expect, test } from '@jest/globals';

import { reinforcePlusPlus } from '#agent_rl/algorithms/advantages/reinforce-plus-plus.ts';
import type { JudgedGroup } from '#agent_rl/core/plugins/reward-manager.ts';
import { membersOf, type Part } from '#agent_rl/core/rollout.ts';
import { ranking } from '#agent_rl/rewards/managers/ranking.ts';
import { rolloutsIn } from '#agent_rl/trainer/collect/collection.ts';
import { evaluate } from '#agent_rl/trainer/evaluate.ts';
import { compare } from '#agent_rl/trainer/success-rate.ts';
import type { AlgorithmParts } from '#agent_rl/trainer/training-options.ts';
import { builtinSelection } from '#tests/support/algorithm-parts.ts';
import {
  type Changes,
  never,
  type Script,
  type setUp,
  trained,
} from '#tests/support/grpo-trainer-setup.ts';
import { metricsUnder } from '#tests/support/metrics-under.ts';
import { groupOf, part as partOf, rollout } from '#tests/support/rollouts.ts';
import { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';

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

const trainedOnce = (
  script: Script,
  changes: Changes = {},
  parts: Parameters<typeof setUp>[3] = {},
) => trained(script, { train: { iterations: 1 }, ...changes }, {}, parts);

/** Advantages of what was learned from, by the number of tokens sampled: 2 of a speaker, 3 of a guesser. */
const advantagesOf = ({ learner }: ReturnType<typeof setUp>) =>
  learner.batches.flat().map(({ advantages, weights }) => {
    const own = [...advantages].filter((_, place) => weights[place] !== 0);
    return `${own.length}: ${own[0]}`;
  });
/** Of two tasks alike. */
const twice = (...ofTask: string[]) => [...ofTask, ...ofTask];
const advantage = (of: AlgorithmParts['advantage']['of']) => ({
  algorithm: { advantage: { name: 'own', of } },
});

describe('Multi-agent training', () => {
  test("compares an attempt only with the same agent's attempts at the task", async () => {
    const run = await trainedOnce(duet);
    expect(advantagesOf(run)).toEqual(twice('2: 0.5', '2: -0.5', '3: -0.25', '3: 0.25'));
    expect(run.metrics[0]).toMatchObject({
      ...metricsUnder('rollout', { episodes: 4, scored: 4, sampledTokens: 20, successRate: 0 }),
      ...metricsUnder('ledger', { trained: 20, untrained: 0 }),
      ...metricsUnder('agentReward', { speaker: 0.5, guesser: 0.25 }),
      ...metricsUnder('agentSuccess', { speaker: 0.5, guesser: 0 }),
      'group/count': 4,
    });
  });

  test('does not train on an agent that does not learn, and books its tokens', async () => {
    const run = await trainedOnce(duetWith(({ agent }) => ({ learns: agent !== 'guesser' })));
    expect(advantagesOf(run)).toEqual(twice('2: 0.5', '2: -0.5'));
    expect(run.metrics[0]).toMatchObject({
      ...metricsUnder('ledger', { trained: 8, untrained: 12 }),
      // Those that learn decide what is a success.
      ...metricsUnder('rollout', { sampledTokens: 20, successRate: 0.5 }),
      'group/count': 2,
    });
  });

  test('excludes agents that do not learn from batch-wide advantages', async () => {
    const seen: unknown[] = [];
    const frozen = duetWith(({ agent }) => ({ learns: agent !== 'speaker' }));
    const seeing = advantage((groups) => {
      seen.push(...groups.flat());
      return groups;
    });
    // One of each group has an advantage of 0, and is not sent.
    expect(advantagesOf(await trainedOnce(frozen, seeing))).toEqual(twice('3: 0.5'));
    expect(seen).toEqual([0, 0.5, 0, 0.5]);
  });

  test('normalises over a whole batch per agent', async () => {
    // Guessers earn ten more than speakers.
    const unequal = duetWith(({ agent, reward = 0 }) => ({
      reward: agent === 'guesser' ? reward + 10 : reward,
    }));
    const whole = advantage((groups) => reinforcePlusPlus(groups, { baseline: 'none', eps: 0 }));
    const run = await trainedOnce(unequal, whole);
    expect(advantagesOf(run)).toEqual(twice('2: 1', '2: -1', '3: -1', '3: 1'));
  });

  test('keeps the agents of a task in one optimiser step', async () => {
    const { learner } = await trainedOnce(duet, {
      rollout: { tasksPerStep: 3 },
      algorithm: { updatesPerBatch: 2 },
    });
    // Two tasks and one, of two attempts of two agents each: six groups in halves would split the second task.
    expect(learner.batches.map((data) => data.length)).toEqual([8, 4]);
  });

  test('resamples a task only if no agent can learn from it', async () => {
    // Speakers always earn the same; guessers too, at one task.
    const flat = duetWith(({ agent }, taskId) =>
      agent === 'speaker' || taskId === 't1' ? { reward: 1 } : {},
    );
    const selection = builtinSelection('dynamic', { cap: 1 });
    const { rollouts, metrics } = await trainedOnce(flat, { algorithm: { selection } });
    const tasks = new Set(rollouts.requests.map(({ task }) => task.taskId));
    expect([...tasks]).toEqual(['t0', 't1', 'again-0-1-0']);
    // Both agents' tokens of the dropped task are booked.
    expect(metrics[0]).toMatchObject({ 'ledger/resampled': 10, 'group/resampled': 2 });
  });

  test('replaces and counts failures by episode', async () => {
    const outcome = 'infrastructure-error';
    const failing: Script = (request) =>
      request.key.sample === 0 && request.task.taskId === 't0'
        ? rollout([
            part('speaker', { outcome, sampled: 2 }),
            part('guesser', { outcome, sampled: 0 }),
          ])
        : duet(request);
    const changes = { rollout: { outcomes: { [outcome]: 'replace' as const } } };
    const { rollouts, metrics } = await trainedOnce(failing, changes);
    const played = rollouts.requests.map(({ task, key: { sample } }) => task.taskId + sample);
    expect(played).toEqual(['t00', 't01', 't10', 't11', 't02']);
    expect(metrics[0]).toMatchObject({
      'rollout/episodes': 5,
      'rollout/failed': 1,
      'ledger/infrastructure': 2,
      'outcome/infrastructure-error': 2,
    });
  });

  test('does not compare an agent without a turn', async () => {
    // At each task the guesser is asked in the first attempt alone.
    const run = await trainedOnce(({ key: { sample } }) =>
      rollout([
        part('speaker', { reward: 1 - sample, sampled: 2 }),
        part('guesser', { reward: 1 - sample, sampled: sample === 0 ? 3 : 0 }),
      ]),
    );
    expect(advantagesOf(run)).toEqual(twice('2: 0.5', '2: -0.5'));
    expect(run.metrics[0]).toMatchObject({ 'ledger/zero-advantage': 6, 'group/leftOut': 0 });
  });

  test('hides an agent without a turn from the reward manager, and does not penalise it', async () => {
    const shown: number[] = [];
    const assign = (group: JudgedGroup) => {
      shown.push(group.episodes.length);
      return ranking(group);
    };
    const failing: Script = ({ key: { sample } }) => {
      const verdict =
        sample === 1 ? { outcome: 'infrastructure-error' as const } : { reward: sample };
      return rollout([
        part('speaker', { ...verdict, sampled: 2 }),
        part('guesser', { ...verdict, sampled: sample === 2 ? 3 : 0 }),
      ]);
    };
    const outcomes = { 'infrastructure-error': 'penalise' } as const;
    const terms = [{ name: 'environment', weight: 1 }];
    const { metrics } = await trainedOnce(
      failing,
      { rollout: { groupSize: 3, tasksPerStep: 1, outcomes } },
      { rewarding: { name: 'mine', manager: { assign }, terms } },
    );
    // The speaker's attempts but for the one that failed; the guesser's one attempt with a turn.
    expect(shown).toEqual([2, 1]);
    // The speaker's failure: the guesser had no turn in that attempt.
    expect(metrics[0]).toMatchObject({ 'rollout/penalised': 1, 'group/leftOut': 0 });
  });

  test('shuffles rewards per agent', async () => {
    const run = await trained(
      ({ key: { sample } }) =>
        rollout([
          part('speaker', { reward: sample, sampled: 2 }),
          part('guesser', { reward: 10 + sample, sampled: 3 }),
        ]),
      { train: { iterations: 4, control: 'shuffled-rewards' } },
    );
    // With a speaker's reward among guessers' some advantage would be near 5.
    const sizes = advantagesOf(run).map((text) => Math.abs(Number(text.slice(3))));
    expect(new Set(sizes)).toEqual(new Set([0.5]));
  });
});

describe('A multi-agent evaluation', () => {
  const tasks = ['a', 'b'].map((taskId) => ({ taskId, prompt: '', metadata: {} }));
  const settings = { samples: 2, temperature: 1, seed: 3, step: 0, signal: never };
  /** Both solve a; of b the speaker alone, once. */
  const evaluated = (better = false) => {
    const rollouts = new ScriptedRollouts(({ task: { taskId }, key: { sample } }) => {
      const both = taskId === 'a' || better;
      return rollout([
        part('speaker', { reward: both || sample === 0 ? 1 : 0, metrics: { words: 3 } }),
        part('guesser', { reward: both ? 1 : 0, metrics: { words: 1 } }),
      ]);
    });
    return evaluate(rollouts, tasks, settings);
  };

  test('counts an attempt as solved if all learning agents solved it, and counts each agent', async () => {
    const result = await evaluated();
    expect(result).toMatchObject({
      n: 4,
      successes: 2,
      systemFailures: 0,
      tasks: 2,
      groups: { 'agent speaker': { n: 4, successes: 3 }, 'agent guesser': { n: 4, successes: 2 } },
    });
    expect(result.environment).toEqual({ 'speaker/words': 3, 'guesser/words': 1 });
    expect(result.rollouts.flatMap(membersOf)).toHaveLength(8);
    const changed = compare(result.perTask, (await evaluated(true)).perTask, 3);
    const groups = { 'agent speaker': { difference: 0.25 }, 'agent guesser': { difference: 0.5 } };
    expect(changed).toMatchObject({ difference: 0.5, groups });
  });

  test('excludes agents that do not learn from the mean reward', async () => {
    const frozen = new ScriptedRollouts(() =>
      rollout([part('speaker', { reward: 0.25 }), part('guesser', { reward: 1, learns: false })]),
    );
    expect(await evaluate(frozen, tasks, settings)).toMatchObject({ rewardMean: 0.25 });
  });
});

test("rollouts of a collection have all parts with the reward managers' rewards", () => {
  const duets = [0, 1].map((sample) =>
    rollout([part('speaker', {}), part('guesser', {})], { sample }),
  );
  const judged = part('speaker', { reward: 4 });
  const [speaker, ...others] = duets.flatMap(membersOf);
  const members = [{ ...speaker!, part: judged }, ...others];
  const groups = ['speaker', 'guesser'].map((agent) =>
    groupOf(members.filter((one) => one.part.agent === agent)),
  );
  expect(rolloutsIn({ groups: [groups], discarded: [] })).toEqual([
    { ...duets[0], parts: [judged, duets[0]?.parts[1]] },
    duets[1],
  ]);
});
