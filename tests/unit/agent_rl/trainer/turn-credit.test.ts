import { describe, expect, test } from '@jest/globals';

import type { JudgedGroup } from '#agent_rl/core/plugins/reward-manager.ts';
import type { AdvantageGroup, TurnGroup } from '#agent_rl/core/algorithm/advantage.ts';
import { Transcript, type TranscriptRecord } from '#agent_rl/core/transcript.ts';
import { keepLedger } from '#agent_rl/rollout/tokens/ledger.ts';
import { learnedRecord } from '#agent_rl/runs/episodes/learned-record.ts';
import { learnedEvent, learnedOf } from '#agent_rl/runs/journal/learned-event.ts';
import { buildData } from '#agent_rl/trainer/build-data.ts';
import { withAdvantages } from '#agent_rl/trainer/collect/collect-groups.ts';
import { rolloutEvent, rolloutOf } from '#agent_rl/runs/journal/rollout-event.ts';
import type { LearnedPart } from '#agent_rl/trainer/learned-parts.ts';
import {
  type Changes,
  optionsWith,
  type Script,
  trained,
} from '#tests/support/grpo-trainer-setup.ts';
import { groupOf, member, played } from '#tests/support/rollouts.ts';

/** A prompt of two tokens, then turns of this many tokens each, with two tokens of a tool after each. */
function turnsOf(...lengths: readonly number[]): TranscriptRecord {
  const transcript = new Transcript();
  transcript.append('user', [1, 2]);
  for (const [turn, length] of lengths.entries()) {
    const tokens = Array.from({ length }, (_, i) => 10 * (turn + 1) + i);
    transcript.appendSampled(
      tokens,
      tokens.map(() => -0.5),
      0,
    );
    transcript.append('tool', [5, 6]);
  }
  return transcript.record();
}

const iteration = { train: { iterations: 1 }, rollout: { tasksPerStep: 1 } };

/** Runs one iteration of a group of two. @returns the turns that the estimator was given, and what was learned */
async function learnedWith(
  script: Script,
  made: AdvantageGroup,
  { rollout, algorithm, ...changes }: Changes = {},
  parts: Parameters<typeof trained>[3] = {},
) {
  const given: (readonly TurnGroup[])[] = [];
  const of = (_: unknown, turns: readonly TurnGroup[]) => {
    given.push(turns);
    return turns.map(() => made);
  };
  const learned: LearnedPart[] = [];
  const run = await trained(
    script,
    {
      ...changes,
      train: { ...iteration.train, ...changes.train },
      rollout: { ...iteration.rollout, ...rollout },
      algorithm: { ...algorithm, advantage: { name: 'by-turn', of } },
    },
    { iteration: (event) => void learned.push(...event.learned) },
    parts,
  );
  return { ...run, turns: given[0]?.[0], learned };
}

/** Of the first of two: three turns, of which the environment saw two. */
const told = {
  sequences: [turnsOf(2, 1, 3)],
  turnRewards: [-0.25, 0.5, 0],
  turnStates: ['a', 'b'],
};
const script: Script = ({ key: { sample } }) =>
  sample === 0 ? played({ reward: 1, ...told }) : played({ reward: 0 });

describe('An estimator of advantages', () => {
  test('receives what each turn earned, the rest of the reward with the last one, and the states', async () => {
    const { turns } = await learnedWith(script, [0, 0]);
    expect(turns).toEqual([
      { rewards: [-0.25, 0.5, 0.75], states: ['a', 'b', undefined] },
      undefined,
    ]);
  });

  test('receives turns of which only the states are known, or only rewards', async () => {
    const some: Script = ({ key: { sample } }) =>
      played({
        reward: 1,
        sequences: [turnsOf(2, 1)],
        ...(sample === 0 ? { turnStates: ['a', 'b'] } : { turnRewards: [0.5, 0.5] }),
      });
    const { turns } = await learnedWith(some, [0, 0]);
    expect(turns).toEqual([
      { rewards: [0, 1], states: ['a', 'b'] },
      { rewards: [0.5, 0.5], states: undefined },
    ]);
  });

  test('receives a penalty that replaced the reward with the last turn alone', async () => {
    const { turns } = await learnedWith(
      () => played({ reward: 1, ...told, outcome: 'truncated-turns' }),
      [0, 0],
      { rollout: { outcomes: { 'truncated-turns': 'penalise' } } },
    );
    expect(turns?.[0]?.rewards).toEqual([0, 0, -1]);
  });

  test('receives the reward of a manager with the last turn alone, and the own one as it was', async () => {
    const assign = async ({ episodes }: JudgedGroup) => ({ rewards: episodes.map(() => 1) });
    const rewarding = { name: 'mine', manager: { assign }, terms: [] };
    const { turns } = await learnedWith(
      ({ key: { sample } }) => played({ reward: sample === 0 ? 0.5 : 1, ...told }),
      [0, 0],
      {},
      { rewarding },
    );
    expect(turns?.map((one) => one?.rewards)).toEqual([
      [0, 0, 1],
      [-0.25, 0.5, 0.75],
    ]);
  });

  test("receives no turn rewards of another episode's verdict under the shuffling control", async () => {
    const both: Script = ({ key: { sample } }) => played({ reward: sample, ...told });
    const { turns } = await learnedWith(both, [0, 0], { train: { control: 'shuffled-rewards' } });
    const rewards = turns?.map((one) => one?.rewards.slice(0, 2));
    // Seed 1 exchanges the two.
    expect(rewards).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(turns?.map((one) => one?.states?.[0])).toEqual(['a', 'a']);
  });

  test.each([
    ['too few', [[1, 2], 0]],
    ['null', [null as never, 0]],
    ['a number that is not finite', [[1, 2, Number.NaN], 0]],
    ['several for turns that are not told apart', [0, [0]]],
  ] as const)('is refused %s', (_, made) => {
    const members = [member({ reward: 1, ...told }), member({ reward: 0 })];
    const turns = [{ rewards: told.turnRewards }, undefined];
    const group = { ...groupOf(members), turns };
    const compared = () => withAdvantages([[group]], { name: 'odd', of: () => [made] });
    const message = 'or one for each turn where turns are given';
    expect(compared).toThrow(expect.objectContaining({ code: 'PLUGIN_LOAD_FAILED' }));
    expect(compared).toThrow(message);
  });
});

test('a journal keeps what turns earned and their states', () => {
  const rollout = played({ reward: 1, ...told });
  const event = JSON.parse(JSON.stringify(rolloutEvent(rollout, []).data)) as never;
  const { tokens, columns, ...place } = rolloutEvent(rollout, []);
  const read = rolloutOf(
    { ...place, seq: 0, at: 0, tokens, columns, data: event } as never,
    () => undefined,
  );
  expect(read.parts[0]).toMatchObject({
    turnRewards: told.turnRewards,
    turnStates: told.turnStates,
  });
});

describe('A trainer with advantages by turn', () => {
  test('gives tokens the advantage of their turn, and books the tokens of a turn with 0 as such', async () => {
    const { learner, metrics, learned } = await learnedWith(script, [[0.5, 0, -2], 1]);
    expect(learner.batches.flat().map(({ advantages }) => Array.from(advantages))).toEqual([
      // Prompt, turn, tool, turn, tool, turn.
      [0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, -2, -2, -2],
      [0, 0, 1, 1, 1],
    ]);
    expect(metrics[0]).toMatchObject({
      'ledger/trained': 2 + 3 + 3,
      'ledger/zero-advantage': 1,
      'train/trainedTokens': 8,
    });
    expect(learned.map(({ use }) => use)).toEqual(['trained', 'trained']);
  });

  test('weighs each token as it does with one advantage for all', async () => {
    const { learner } = await learnedWith(script, [[0.5, 0, -2], 1]);
    const weights = learner.batches
      .flat()
      .map(({ weights: own }) => own.filter((one) => one !== 0));
    expect(weights.map(({ length }) => length)).toEqual([6, 3]);
    expect(new Set(weights.flatMap((own) => Array.from(own)))).toEqual(
      new Set([Math.fround(1 / 9)]),
    );
  });

  test('learns nothing from a part in which all of them are 0', async () => {
    const { metrics, learned } = await learnedWith(script, [[0, 0, 0], 0]);
    expect(learned.map(({ use }) => use)).toEqual(['zero-advantage', 'zero-advantage']);
    expect(metrics[0]).toMatchObject({ 'ledger/trained': 0, 'ledger/zero-advantage': 9 });
  });

  test('records them beside their mean, and reads them back from the journal', async () => {
    const { learned } = await learnedWith(script, [[0.5, 0, -2], 1]);
    const records = learned.map(learnedRecord);
    expect(records[0]).toMatchObject({ advantage: -0.5, turnAdvantages: [0.5, 0, -2] });
    expect(records[0]?.sent[0]?.advantages).toEqual([0.5, 0.5, 0, -2, -2, -2]);
    expect(records[1]?.turnAdvantages).toBeUndefined();
    for (const [at, one] of learned.entries()) {
      const event = { ...learnedEvent(one), seq: at, at: 0 } as never;
      expect(learnedOf(event)).toEqual(records[at]);
    }
  });

  test('balances its ledger, whatever the lengths of turns', () => {
    for (const lengths of [[1], [4, 1], [1, 1, 1, 7], [3, 0, 2]]) {
      const sequences = [turnsOf(...lengths)];
      const drawn = lengths.filter((length) => length > 0);
      for (const zero of drawn.keys()) {
        const advantages = [drawn.map((_, turn) => (turn === zero ? 0 : turn + 1)), -1];
        const members = [member({ reward: 1, sequences }), member({ reward: 0, sample: 1 })];
        const { algorithm, rollout } = optionsWith();
        const group = groupOf(members, { advantages });
        const data = buildData({ groups: [[group]], discarded: [] }, algorithm, rollout);
        const { tokens, sampled } = keepLedger(data.uses, data.trainedTokens);
        const whole = drawn.reduce((sum, length) => sum + length, 0);
        expect(tokens['zero-advantage']).toBe(drawn[zero]);
        expect([sampled, tokens.trained]).toEqual([whole + 3, whole + 3 - (drawn[zero] ?? 0)]);
      }
    }
  });
});
