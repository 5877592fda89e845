import { describe, expect, test } from '@jest/globals';

import type { Trajectory } from '#agent_rl/core/trajectory.ts';
import { batchOf } from '#agent_rl/core/services/batch.ts';
import { trajectoryLine } from '#agent_rl/runs/episodes/trajectory-line.ts';
import { buildData } from '#agent_rl/trainer/build-data.ts';
import { options } from '#tests/support/grpo-trainer-setup.ts';
import { trajectory } from '#tests/support/trajectories.ts';

const group = (...trajectories: Trajectory[]) => ({
  task: { taskId: 't', prompt: '', metadata: {} },
  trajectories,
  rewards: trajectories.map(({ reward }) => reward),
  advantages: trajectories.map(({ reward }) => reward),
  zeroVariance: false,
  again: false,
});

describe('buildData', () => {
  test.each([
    // 2 sequences, at most 3 turns of 8 tokens each; or the 20 tokens an episode may have.
    [{ maxTurns: 3, maxTurnTokens: 8, maxEpisodeTokens: 50 }, 1 / 48],
    [{ maxTurns: 3, maxTurnTokens: 8, maxEpisodeTokens: 20 }, 1 / 40],
  ])(
    'with %o lets the aggregation "constant" divide by the most an episode may sample',
    (limits, weight) => {
      const { data } = buildData(
        { groups: [group(trajectory({ reward: 1 }), trajectory({ reward: -1 }))], discarded: [] },
        { ...options.algorithm, aggregation: 'constant' },
        { ...options.rollout, ...limits },
      );
      expect(data.map(({ datum }) => datum.weights[2])).toEqual([
        Math.fround(weight),
        Math.fround(weight),
      ]);
    },
  );

  test('sends the learner nothing after the last sampled token, however long a tool result is', () => {
    const long = trajectory({ reward: 1, prompt: 2, sampled: 3 });
    const tail = Array.from({ length: 32_768 }, (_, index) => index);
    const withTail: Trajectory = {
      ...long,
      tokens: [...long.tokens, ...tail],
      logProbs: [...long.logProbs, ...tail.map(() => 0)],
      spans: [...long.spans, { start: 5, end: 5 + tail.length, source: 'tool' }],
    };
    const [one] = buildData(
      { groups: [group(withTail, trajectory({ reward: -1 }))], discarded: [] },
      options.algorithm,
      options.rollout,
    ).data;
    expect([...(one?.datum.tokens ?? [])]).toEqual([...long.tokens]);
    expect(one?.datum.weights).toHaveLength(5);
    expect(one?.datum.oldLogProbs).toHaveLength(5);
    expect([...(one?.datum.advantages ?? [])]).toEqual([0, 0, 1, 1, 1]);
  });

  test('says of each row which line of the records it goes on from', () => {
    const place = { iteration: 3, round: 0, slot: 1 };
    const played: Trajectory[] = [
      { ...trajectory({ reward: 1 }), taskId: 'a', sample: 4, step: 2, place, agent: 'speaker' },
      trajectory({ reward: -1 }),
    ];
    const { data } = buildData(
      { groups: [group(...played)], discarded: [] },
      options.algorithm,
      options.rollout,
    );
    expect(data.map(({ datum }) => datum.episode)).toEqual([
      { taskId: 'a', sample: 4, step: 2, place, agent: 'speaker' },
      { taskId: played[1]?.taskId, sample: played[1]?.sample, step: played[1]?.step },
    ]);
    const batch = batchOf(data.map(({ datum }) => datum));
    const lines = played.map((one) => trajectoryLine('run', one));
    expect(lines.map(({ schema }) => schema)).toEqual([batch.schema, batch.schema]);
    for (const [index, line] of lines.entries())
      expect(line).toMatchObject(batch.data[index]?.episode ?? {});
  });

  test('trains on an episode that the system failed when it has an advantage, as a penalised one', () => {
    const penalised = {
      ...group(trajectory({ reward: 1 }), trajectory({ outcome: 'grader-error' })),
      advantages: [0.5, -0.5],
    };
    const { uses, data } = buildData(
      { groups: [penalised], discarded: [] },
      options.algorithm,
      options.rollout,
    );
    expect(uses.map(({ use }) => use)).toEqual(['trained', 'trained']);
    expect(data[1]?.datum.advantages[2]).toBe(-0.5);
  });

  test('books what the system failed as that, also in a group whose place another took', () => {
    const discarded = [group(trajectory(), trajectory({ outcome: 'grader-error' }))];
    const { uses } = buildData({ groups: [], discarded }, options.algorithm, options.rollout);
    expect(uses.map(({ use }) => use)).toEqual(['resampled', 'grader']);
  });
});
