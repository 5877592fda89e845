import { describe, expect, test } from '@jest/globals';

import { learnedRecord } from '#agent_rl/runs/episodes/learned-record.ts';
import { type LearnedPart, learnedParts } from '#agent_rl/trainer/learned-parts.ts';
import {
  type Listener,
  mixed,
  never,
  options,
  optionsWith,
  setUp,
} from '#tests/support/grpo-trainer-setup.ts';
import { groupOf, member, played } from '#tests/support/rollouts.ts';
import type { Aggregation } from '#agent_rl/algorithms/token-weights.ts';
import { referenceOf } from '#agent_rl/core/services/scorer.ts';
import {
  drawnSpans,
  type TokenSource,
  Transcript,
  type TranscriptRecord,
} from '#agent_rl/core/transcript.ts';
import { keepLedger } from '#agent_rl/rollout/tokens/ledger.ts';
import { buildData } from '#agent_rl/trainer/build-data.ts';
import { withKlRewards } from '#agent_rl/trainer/collect/kl-rewards.ts';
import { rolloutMetrics } from '#agent_rl/trainer/collect/rollout-metrics.ts';
import { takeSteps } from '#agent_rl/trainer/steps/take-steps.ts';
import { FakeLearner } from '#tests/support/fake-learner.ts';

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
    expect(episodes.flatMap((one) => learnedRecord(one)['sent'])).toMatchObject(
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
    expect(episodes.map(learnedRecord)).toMatchObject([...expected, ...expected]);
  });

  test('names its step, and the log-probabilities of the last of several passes', async () => {
    const episodes = await reported(mixed, { algorithm: { updatesPerBatch: 2, epochs: 2 } });
    const sent = episodes.flatMap((one) => learnedRecord(one).sent);
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

describe('The record of what was learned', () => {
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
    return learnedRecord({ ...one, use: 'trained', advantage: 1, sent }).sent;
  };

  test('has one number for a constant column, and proximal log-probabilities only with a correction', () => {
    const plain = { update: 0, weights: 0.5, advantages: [0.25, 1], logProbs: [-0.100000001, -2] };
    expect(sentWith(Float32Array.of(0, -0.5, -0.5))).toEqual([plain]);
    const corrected = { ...plain, oldLogProbs: [-0.5, -0.25] };
    expect(sentWith(Float32Array.of(0, -0.5, -0.25))).toEqual([corrected]);
  });
});

/** Sampled tokens have the log-probability -0.25, as the learner of these tests gives it. */
function sequence(...pieces: [source: TokenSource, tokens: number[], version?: number][]) {
  const transcript = new Transcript();
  for (const [source, tokens, version = 0] of pieces) {
    const logProbs = tokens.map(() => -0.25);
    if (source === 'sampled') transcript.appendSampled(tokens, logProbs, version);
    else transcript.append(source, tokens);
  }
  return transcript.record();
}

/** A prompt and a first turn that two sequences have in common; the agent then went on in two ways. */
const begun = [
  ['user', [1, 2]],
  ['sampled', [10, 11]],
] as [TokenSource, number[]][];
const branched = member({
  reward: 1,
  sample: 0,
  sequences: [
    sequence(...begun, ['tool', [5]], ['sampled', [12]]),
    sequence(...begun, ['tool', [6, 7]], ['sampled', [20, 21, 22]]),
  ],
});
/** The same beginning in another part is its own. */
const short = member({ reward: -1, sample: 1, sequences: [sequence(...begun)] });
const other = member({
  taskId: 'u',
  reward: 1,
  sequences: [sequence(['user', [1, 2]], ['sampled', [30, 31, 32, 33]])],
});
const collection = { groups: [[groupOf([branched, short])], [groupOf([other])]], discarded: [] };

const built = (aggregation: Aggregation) => {
  // At most 20 tokens, which "constant" divides by.
  const limits = { maxTurns: 3, maxTurnTokens: 8, maxEpisodeTokens: 20 };
  const { algorithm, rollout } = optionsWith({ algorithm: { aggregation }, rollout: limits });
  return buildData(collection, algorithm, rollout);
};

describe('A part with two sequences of a common prefix', () => {
  test('trains each token once, in the first sequence that contains it', () => {
    const { data } = built('token-mean');
    const rows = data.map(({ datum: { from, tokens, weights } }) => {
      const trainedTokens = [...tokens].filter((_, at) => weights[at] !== 0);
      return `${from?.key.sample}/${from?.sequence}: ${trainedTokens.join(' ')}`;
    });
    expect(rows).toEqual(['0/0: 10 11 12', '0/1: 20 21 22', '1/0: 10 11', '0/0: 30 31 32 33']);
    // The second is still computed from its own beginning.
    expect([...data[1]!.datum.tokens]).toEqual([1, 2, 10, 11, 6, 7, 20, 21, 22]);
  });

  test.each([
    // Six, two and four tokens in three parts of two groups.
    ['token-mean', [1 / 12, 1 / 12, 1 / 12, 1 / 12]],
    ['sequence-mean', [1 / (3 * 6), 1 / (3 * 6), 1 / (3 * 2), 1 / (3 * 4)]],
    ['prompt-mean', [1 / (2 * 8), 1 / (2 * 8), 1 / (2 * 8), 1 / (2 * 4)]],
    ['constant', [1 / (3 * 20), 1 / (3 * 20), 1 / (3 * 20), 1 / (3 * 20)]],
  ] as const)('counts as one part in the weights of %s', (aggregation, expected) => {
    const { data } = built(aggregation);
    expect(data.map(({ datum }) => datum.weights.at(-1))).toEqual(expected.map(Math.fround));
    for (const { datum } of data)
      expect(new Set(datum.weights.filter((weight) => weight !== 0)).size).toBe(1);
  });

  test('books each sampled token once, and the ledger balances', () => {
    const { uses, trainedTokens } = built('sequence-mean');
    const { tokens, sampled } = keepLedger(uses, trainedTokens);
    expect([sampled, tokens.trained]).toEqual([12, 12]);
    expect(rolloutMetrics(collection)).toMatchObject({
      'rollout/sampledTokens': 12,
      // What is computed in an update: every sequence with all of it.
      'rollout/contextTokens': 6 + 9 + 4 + 6,
      'rollout/episodes': 3,
      // 6, 2 and 4.
      'rollout/lengthMean': 4,
      'rollout/entropyEstimate': 0.25,
    });
  });

  test('records a column for each sequence that was sent', async () => {
    const sequences = [sequence(...begun), sequence(...begun, ['tool', [5]])];
    const again = member({ reward: 1, sequences });
    const both = { groups: [[groupOf([branched, again])]], discarded: [] };
    const { algorithm, rollout } = options;
    const training = buildData(both, algorithm, rollout);
    const learner = new FakeLearner();
    const taken = await takeSteps({ learner, reference: referenceOf(learner) }, training.updates, {
      algorithm,
      temperature: 1,
      parityBound: { max: 1, mean: 1 },
      optimAt: () => ({}) as never,
      onStep: () => undefined,
    });
    expect(taken.steps[0]?.gap.tokens).toBe(8);
    const lines = learnedParts(both, training, taken).map(learnedRecord);
    const sent = lines.flatMap((line) => line.sent.map((one) => one?.advantages ?? null));
    expect(sent).toEqual([1, 1, 1, null]);
  });

  test('subtracts the KL of each token once', async () => {
    const learner = new FakeLearner();
    learner.ofPolicy = -0.75;
    const kl = { kind: 'k1', weight: 0.1, temperature: 1 } as const;
    const scorers = { name: 'policy', learner, reference: referenceOf(learner) };
    const [[group] = []] = await withKlRewards(scorers, collection.groups, kl);
    // -0.5 nats a token: six of one part and two of the other.
    expect(group?.kl?.nats).toBeCloseTo(-0.5 * 8, 12);
    expect(group?.rewards[0]).toBeCloseTo(1 + 0.1 * 0.5 * 6, 12);
  });
});

describe('The common prefix of two sequences', () => {
  const drawn = (...sequences: TranscriptRecord[]) =>
    drawnSpans(sequences).map((spans, index) =>
      spans.flatMap(({ start, end }) => sequences[index]?.tokens.slice(start, end) ?? []),
    );

  test('ends within a turn if they differ there', () => {
    const first = sequence(['user', [1]], ['sampled', [10, 11, 12]]);
    const second = sequence(['user', [1]], ['sampled', [10, 30]]);
    expect(drawn(first, second)).toEqual([[10, 11, 12], [30]]);
  });

  test.each([
    ['weights', sequence(['user', [1]], ['sampled', [10], 1]), [10]],
    ['source', sequence(['system', [1]], ['sampled', [10]]), [10]],
    ['source', sequence(['user', [1]], ['tool', [10]], ['sampled', [2]]), [2]],
  ])('excludes tokens of other %s', (_, second, expected) => {
    const first = sequence(['user', [1]], ['sampled', [10]], ['tool', [2]], ['sampled', [11]]);
    expect(drawn(first, second)).toEqual([[10, 11], expected]);
  });

  test('is searched in all earlier sequences', () => {
    const [a, b] = [sequence(['sampled', [1, 2]]), sequence(['sampled', [7, 8]])];
    expect(drawn(a, b, sequence(['sampled', [7, 8, 9]]), a)).toEqual([[1, 2], [7, 8], [9], []]);
  });
});
