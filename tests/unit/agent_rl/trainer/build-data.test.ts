import { describe, expect, test } from '@jest/globals';

import type { Member } from '#agent_rl/core/rollout.ts';
import type { TranscriptRecord } from '#agent_rl/core/transcript.ts';
import { batchOf } from '#agent_rl/core/services/batch.ts';
import { trajectoryLine } from '#agent_rl/runs/episodes/trajectory-line.ts';
import { buildData } from '#agent_rl/trainer/build-data.ts';
import { options } from '#tests/support/grpo-trainer-setup.ts';
import { groupOf, member, sequence } from '#tests/support/rollouts.ts';

const group = (...members: Member[]) => [groupOf(members)];

describe('buildData', () => {
  test.each([
    // 2 sequences, at most 3 turns of 8 tokens each; or the 20 tokens an episode may have.
    [{ maxTurns: 3, maxTurnTokens: 8, maxEpisodeTokens: 50 }, 1 / 48],
    [{ maxTurns: 3, maxTurnTokens: 8, maxEpisodeTokens: 20 }, 1 / 40],
  ])(
    'divides by the token limit of an episode for the aggregation "constant" with %o',
    (limits, weight) => {
      const { data } = buildData(
        { groups: [group(member({ reward: 1 }), member({ reward: -1 }))], discarded: [] },
        { ...options.algorithm, aggregation: 'constant' },
        { ...options.rollout, ...limits },
      );
      expect(data.map(({ datum }) => datum.weights[2])).toEqual([
        Math.fround(weight),
        Math.fround(weight),
      ]);
    },
  );

  test('sends nothing after the last sampled token, however long a tool result is', () => {
    const long = sequence(2, 3);
    const tail = Array.from({ length: 32_768 }, (_, index) => index);
    const withTail: TranscriptRecord = {
      tokens: [...long.tokens, ...tail],
      logProbs: [...long.logProbs, ...tail.map(() => 0)],
      spans: [...long.spans, { start: 5, end: 5 + tail.length, source: 'tool' }],
    };
    const [one] = buildData(
      {
        groups: [group(member({ reward: 1, sequences: [withTail] }), member({ reward: -1 }))],
        discarded: [],
      },
      options.algorithm,
      options.rollout,
    ).data;
    expect([...(one?.datum.tokens ?? [])]).toEqual([...long.tokens]);
    expect(one?.datum.weights).toHaveLength(5);
    expect(one?.datum.oldLogProbs).toHaveLength(5);
    expect([...(one?.datum.advantages ?? [])]).toEqual([0, 0, 1, 1, 1]);
  });

  test('links each row to its line in the records', () => {
    const key = { run: 'r', when: 'train', iteration: 3, round: 0, slot: 1, sample: 4 } as const;
    const members = [
      member({ ...key, reward: 1, taskId: 'a', step: 2, agent: 'speaker' }),
      member({ reward: -1, sequences: [sequence(1, 0), sequence(2, 3)] }),
    ];
    const { data } = buildData(
      { groups: [group(...members)], discarded: [] },
      options.algorithm,
      options.rollout,
    );
    const other = members[1]?.rollout;
    expect(data.map(({ datum }) => datum.from)).toEqual([
      { key, agent: 'speaker', sequence: 0, taskId: 'a', step: 2 },
      { key: other?.key, agent: 'policy', sequence: 1, taskId: 't', step: 0 },
    ]);
    const batch = batchOf(data.map(({ datum }) => datum));
    const lines = members.map(trajectoryLine);
    expect(lines.map(({ schema }) => schema)).toEqual([batch.schema, batch.schema]);
    for (const [index, line] of lines.entries()) {
      const { key: named, agent, taskId, step } = batch.data[index]?.from ?? {};
      expect(line).toMatchObject({ ...named, agent, taskId, step });
    }
  });

  test('trains on a failed episode that has an advantage, such as a penalised one', () => {
    const penalised = groupOf([member({ reward: 1 }), member({ outcome: 'grader-error' })], {
      advantages: [0.5, -0.5],
    });
    const { uses, data } = buildData(
      { groups: [[penalised]], discarded: [] },
      options.algorithm,
      options.rollout,
    );
    expect(uses.map(({ use }) => use)).toEqual(['trained', 'trained']);
    expect(data[1]?.datum.advantages[2]).toBe(-0.5);
  });

  test('books system failures as such, also in resampled groups', () => {
    const discarded = [group(member(), member({ outcome: 'grader-error' }))];
    const { uses } = buildData({ groups: [], discarded }, options.algorithm, options.rollout);
    expect(uses.map(({ use }) => use)).toEqual(['resampled', 'grader']);
  });
});
