import { describe, expect, test } from '@jest/globals';

import { learnedLine } from '#agent_rl/runs/episodes/learned-line.ts';
import { learnedParts, type LearnedPart } from '#agent_rl/trainer/learned-parts.ts';
import { type Listener, mixed, never, setUp } from '#tests/support/grpo-trainer-setup.ts';
import { groupOf, member, played } from '#tests/support/rollouts.ts';

/** What a run of one iteration reports of its parts; of each pair the first succeeds. */
async function reported(...[script, changes]: Parameters<typeof setUp>): Promise<LearnedPart[]> {
  const seen: LearnedPart[] = [];
  const given = { ...changes, train: { iterations: 1 } };
  const listener: Listener = { iteration: ({ learned }) => seen.push(...learned) };
  const { trainer, learner } = setUp(script, given, listener);
  learner.gap = 2 ** -14;
  await trainer.train(never);
  return seen;
}

describe('The learned part of an episode', () => {
  test('has bucket, advantage, weights and both log-probabilities of each sampled token', async () => {
    const episodes = await reported(mixed);
    const uses = episodes.map(({ part: { reward }, use }) => `${reward} ${use}`);
    expect(uses).toEqual(['1 trained', '0 trained', '1 trained', '0 trained']);
    // Two tasks of two episodes of three tokens; each token weighs a twelfth.
    expect(episodes.flatMap((one) => learnedLine(one)['sent'])).toMatchObject(
      [1, -1, 1, -1].map((sign) => ({
        update: 0,
        weights: Number(Math.fround(1 / 12).toPrecision(9)),
        // Rewards 1 and 0 less their mean; the options do not divide by the deviation.
        advantages: sign * 0.5,
        logProbs: -0.499938965,
      })),
    );
    expect(episodes[0]?.advantage).toBe(0.5);
  });

  test('keeps the order of the episodes, and says why others were not sent', async () => {
    const system = { outcome: 'infrastructure-error' } as const;
    const episodes = await reported(
      ({ task, key: { sample } }) =>
        played({ taskId: task.taskId, sample, ...(sample === 0 ? system : { reward: 1 }) }),
      { rollout: { groupSize: 3 } },
    );
    const sent = [null];
    const expected = [
      { sample: 0, use: 'infrastructure', advantage: null, sent },
      { sample: 1, use: 'zero-advantage', advantage: 0, sent },
      { sample: 2, use: 'zero-advantage', advantage: 0, sent },
    ];
    expect(episodes.map(learnedLine)).toMatchObject([...expected, ...expected]);
  });

  test('names its step, and the log-probabilities of the last of several passes', async () => {
    const episodes = await reported(mixed, { algorithm: { updatesPerBatch: 2, epochs: 2 } });
    const sent = episodes.flatMap((one) => learnedLine(one).sent);
    expect(sent.map((one) => one?.update)).toEqual([0, 0, 1, 1]);
    expect(sent.map((one) => one?.lastLogProbs)).toEqual(Array(4).fill(-0.499938965));
  });

  test('must have a bucket', () => {
    const collection = { groups: [[groupOf([member()])]], discarded: [] };
    expect(() => learnedParts(collection, { uses: [] }, { sent: new Map() })).toThrow(
      'Rollout eval/0/0/0/0 of task t',
    );
  });
});

describe('A line of learned.jsonl', () => {
  const sentWith = (oldLogProbs: Float32Array) => {
    const datum = {
      tokens: Int32Array.of(1, 10, 11),
      weights: Float32Array.of(0, 0.5, 0.5),
      advantages: Float32Array.of(0, 0.25, 1),
      oldLogProbs,
    };
    const logProbs = Float32Array.of(0, -0.1, -2);
    const sent = [{ datum, update: 0, logProbs, lastLogProbs: logProbs }];
    const one = member({ prompt: 1, sampled: 2 });
    return learnedLine({ ...one, use: 'trained', advantage: 1, sent }).sent;
  };

  test('has one number for a constant column, and proximal log-probabilities only with a correction', () => {
    const plain = { update: 0, weights: 0.5, advantages: [0.25, 1], logProbs: [-0.100000001, -2] };
    expect(sentWith(Float32Array.of(0, -0.5, -0.5))).toEqual([plain]);
    const corrected = { ...plain, oldLogProbs: [-0.5, -0.25] };
    expect(sentWith(Float32Array.of(0, -0.5, -0.25))).toEqual([corrected]);
  });
});
