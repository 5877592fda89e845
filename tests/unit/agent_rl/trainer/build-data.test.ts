import { describe, expect, test } from '@jest/globals';

import { batchOf } from '#agent_rl/core/services/batch.ts';
import type { TranscriptRecord } from '#agent_rl/core/transcript.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import { buildData } from '#agent_rl/trainer/build-data.ts';
import type { Group } from '#agent_rl/trainer/collect/collection.ts';
import { correctData } from '#agent_rl/trainer/steps/correct-data.ts';
import { FakeLearner } from '#tests/support/fake-learner.ts';
import {
  always,
  type Changes,
  failing,
  mixed,
  never,
  optionsWith,
  setUp,
  trained,
} from '#tests/support/grpo-trainer-setup.ts';
import { groupOf, member, played, sequence } from '#tests/support/rollouts.ts';

const built = (groups: readonly Group[], changes: Changes = {}, discarded: Group[][] = []) => {
  const { algorithm, rollout } = optionsWith(changes);
  return buildData({ groups: groups.map((one) => [one]), discarded }, algorithm, rollout);
};
const group = (taskId: string, rewards: readonly number[], sampled = 3) =>
  groupOf(rewards.map((reward, sample) => member({ taskId, sample, reward, sampled })));

describe('buildData', () => {
  test.each([
    // 2 sequences, at most 3 turns of 8 tokens each; or the 20 tokens an episode may have.
    [{ maxTurns: 3, maxTurnTokens: 8, maxEpisodeTokens: 50 }, 1 / 48],
    [{ maxTurns: 3, maxTurnTokens: 8, maxEpisodeTokens: 20 }, 1 / 40],
  ])('divides "constant" by the token limit of an episode with %o', (rollout, weight) => {
    const { data } = built([group('a', [1, -1])], {
      algorithm: { aggregation: 'constant' },
      rollout,
    });
    const weights = data.map(({ datum }) => datum.weights[2]);
    expect(weights).toEqual([Math.fround(weight), Math.fround(weight)]);
  });

  test('sends nothing after the last sampled token, however long a tool result is', () => {
    const long = sequence(2, 3);
    const tail = Array.from({ length: 32_768 }, (_, index) => index);
    const withTail: TranscriptRecord = {
      tokens: [...long.tokens, ...tail],
      logProbs: [...long.logProbs, ...tail.map(() => 0)],
      spans: [...long.spans, { start: 5, end: 5 + tail.length, source: 'tool' }],
    };
    const members = [member({ reward: 1, sequences: [withTail] }), member({ reward: -1 })];
    const { tokens, weights, oldLogProbs, advantages } = built([groupOf(members)]).data[0]!.datum;
    expect([...tokens]).toEqual([...long.tokens]);
    expect([weights.length, oldLogProbs.length]).toEqual([5, 5]);
    expect([...advantages]).toEqual([0, 0, 1, 1, 1]);
  });

  test('links each row to its line in the records', () => {
    const key = { run: 'r', when: 'train', iteration: 3, round: 0, slot: 1, sample: 4 } as const;
    const members = [
      member({ ...key, reward: 1, taskId: 'a', step: 2, agent: 'speaker' }),
      member({ reward: -1, sequences: [sequence(1, 0), sequence(2, 3)] }),
    ];
    const { data } = built([groupOf(members)]);
    const other = members[1]?.rollout.key;
    expect(data.map(({ datum }) => datum.from)).toEqual([
      { key, agent: 'speaker', sequence: 0, taskId: 'a', step: 2 },
      { key: other, agent: 'policy', sequence: 1, taskId: 't', step: 0 },
    ]);
    const { schema, data: sent } = batchOf(data.map(({ datum }) => datum));
    for (const [index, line] of members.map(episodeRecord).entries()) {
      const { key: named, agent, taskId, step } = sent[index]?.from ?? {};
      expect(line).toMatchObject({ schema, ...named, agent, taskId, step });
    }
  });

  test('trains on a failed episode that has an advantage, such as a penalised one', () => {
    const members = [member({ reward: 1 }), member({ outcome: 'grader-error' })];
    const { uses, data } = built([groupOf(members, { advantages: [0.5, -0.5] })]);
    expect(uses.map(({ use }) => use)).toEqual(['trained', 'trained']);
    expect(data[1]?.datum.advantages[2]).toBe(-0.5);
  });

  test('books system failures as such, also in resampled groups', () => {
    const discarded = [[groupOf([member(), member({ outcome: 'grader-error' })])]];
    expect(built([], {}, discarded).uses.map(({ use }) => use)).toEqual(['resampled', 'grader']);
  });

  test('gives every group, and every token in it, the same weight with prompt-mean', () => {
    const groups = [group('a', [1, -1], 2), group('b', [1, -1, 1], 4)];
    const { data } = built(groups, { algorithm: { aggregation: 'prompt-mean' } });
    // Two groups of 4 and 12 trained tokens.
    expect(data.map(({ datum }) => datum.weights.at(-1))).toEqual(
      [1 / 8, 1 / 8, 1 / 24, 1 / 24, 1 / 24].map(Math.fround),
    );
  });
});

describe('updatesPerBatch', () => {
  const algorithm = { updatesPerBatch: 2 };

  test('takes a step for each part of each pass, each with its own position in the schedule', async () => {
    const { learner, metrics } = await trained(mixed, {
      algorithm: { ...algorithm, epochs: 2 },
      train: { schedule: 'cosine' },
    });
    // Two tasks of two episodes: a group for each step.
    const rates = learner.steps.map(({ learningRate }) => learningRate);
    expect(rates).toEqual(rates.toSorted((a, b) => b - a));
    expect([rates.length, new Set(rates).size]).toEqual([8, 8]);
    expect(metrics.map((one) => one['train/optimizerSteps'])).toEqual([4, 8]);
  });

  test('divides groups evenly, in order, and weights the tokens of a step within the step', () => {
    const groups = ['a', 'b', 'c', 'd', 'e'].map((name, index) => group(name, [1, -1], 2 + index));
    const { updates } = built(groups, { algorithm });
    expect(updates.map((data) => data.map(({ rollout: { taskId } }) => taskId).join(''))).toEqual([
      'aabbcc',
      'ddee',
    ]);
    for (const data of updates) {
      const weights = data.flatMap(({ datum }) => Array.from(datum.weights));
      expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 6);
    }
  });

  test('skips a step without data, and compares probabilities in the first one', async () => {
    const { trainer, learner } = setUp(
      ({ task, key: { sample } }) => played({ reward: task.taskId === 't0' ? 1 : sample }),
      { algorithm, train: { iterations: 1 } },
    );
    learner.gap = 1;
    await expect(trainer.train(never)).rejects.toMatchObject({ code: 'PARITY_BROKEN' });
    expect(learner.steps).toEqual([]);
  });
});

test('the entropy bonus reaches the loss, with episodes of advantage 0', async () => {
  const { learner } = await trained(always(1), {
    algorithm: { entropyBonus: 0.5 },
    train: { iterations: 1 },
  });
  expect(learner.losses[0]).toMatchObject({ entropyBonus: 0.5 });
});

describe('A correction', () => {
  interface Tokens {
    behaviour: Float32Array;
    proximal: Float32Array;
  }

  test('multiplies advantages, and ratios are relative to the weights before the update', async () => {
    const correction = { name: 'half', of: ({ behaviour }: Tokens) => behaviour.map(() => 0.5) };
    const { updates } = built([group('a', [1, -1], 2)]);
    const learner = new FakeLearner();
    const corrected = await correctData(learner, updates, { correction, temperature: 0.8 });
    const [first] = corrected.updates.flat();
    const sampled = (values: Float32Array | undefined) => [...(values ?? [])].slice(-2);
    expect(sampled(first?.datum.advantages)).toEqual([0.5, 0.5]);
    expect(sampled(first?.datum.oldLogProbs)).toEqual([-0.25, -0.25]);
    expect(sampled(first?.datum.weights)).toEqual([0.25, 0.25]);
    expect(first?.sequence).toBe(updates[0]?.[0]?.sequence);
    expect([corrected.factorMean, corrected.maskedShare]).toEqual([0.5, 0]);
    expect(learner.forwards[0]).toMatchObject({ which: 'policy', temperature: 0.8 });
  });

  test('receives log-probabilities of sampled tokens only, of generator and learner', async () => {
    const seen: Tokens[] = [];
    const of = (tokens: Tokens) => {
      seen.push(tokens);
      return tokens.behaviour.map(() => 0);
    };
    const { metrics } = await trained(mixed, {
      algorithm: { correction: { name: 'watching', of } },
      // The made-up learner scores other than it trains.
      train: { iterations: 1, parityBound: { max: 1, mean: 1 } },
    });
    const { behaviour, proximal } = seen[0]!;
    expect([...proximal]).toEqual(Array.from(behaviour, () => -0.25));
    expect(metrics[0]).toMatchObject({ 'correction/factorMean': 0, 'correction/maskedShare': 1 });
  });

  test.each([
    ['too few factors', () => [1], '1 factors for'],
    ['a negative one', ({ behaviour }: Tokens) => behaviour.map(() => -1), '-1'],
  ])('is refused by name if it returns %s', async (_, of, got) => {
    const { error } = await failing(mixed, { algorithm: { correction: { name: 'wrong', of } } });
    const message = expect.stringMatching(new RegExp(`"wrong" returned .*${got}`));
    expect(error).toMatchObject({ code: 'PLUGIN_LOAD_FAILED', message });
  });
});
