import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { type Message, user } from '#agent_rl/core/message.ts';
import type { Member } from '#agent_rl/core/rollout.ts';
import { compareRuns } from '#agent_rl/jobs/compare/compare-runs.ts';
import type { HeldOutDifference } from '#agent_rl/jobs/compare/held-out-difference.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, expectRejection, rejectionOf } from '#tests/support/thrown.ts';
import { member, sequence } from '#tests/support/rollouts.ts';

const folder = temporaryFolder();
let made = 0;

interface Attempt {
  task: string;
  solved: boolean;
  prompt?: string;
}

interface RunSketch {
  rate?: number;
  /** After training, in this iteration. */
  after?: readonly Attempt[];
  train?: readonly Member[];
  /** Tasks of the slice `hard`. */
  hard?: readonly string[];
}

/** The folder of a run that was recorded. */
function runOf({ rate = 1, after = [], train = [], hard }: RunSketch): string {
  const run = join(folder, `run-${made++}`);
  const lines = (records: readonly object[]): string =>
    records.map((record) => `${JSON.stringify(record)}\n`).join('');
  writeBelow(run, 'config.yaml', `run: {seed: 1}\ntrain: {learningRate: ${rate}}\n`);
  writeBelow(run, 'summary.json', JSON.stringify({ wallSeconds: 10 * rate, cpuSeconds: 20 }));
  const attempts = after.map(({ task, solved, prompt = 'Why?' }, slot) => {
    const key = { when: 'after', iteration: 5, slot, taskId: task } as const;
    const messages: Message[] = [user(prompt), { role: 'assistant', content: String(solved) }];
    return member({ ...key, reward: Number(solved), messages });
  });
  writeBelow(run, 'trajectories/eval.jsonl', lines(attempts.map(episodeRecord)));
  writeBelow(run, 'trajectories/train.jsonl', lines(train.map(episodeRecord)));
  const perTask = hard?.map((taskId) => ({ taskId, groups: ['hard'], ofSlice: true }));
  const state = JSON.stringify({ before: { perTask } });
  if (perTask) writeBelow(run, 'checkpoints/step-5/trainer-state.json', state);
  return run;
}

async function compared(a: string, b: string) {
  const printed: string[] = [];
  const result = await compareRuns({ a, b, print: (text) => void printed.push(text) });
  return { result, text: printed.join('\n') };
}

const solvedBy = (solved: readonly boolean[]): Attempt[] =>
  solved.map((one, index) => ({ task: `t${index}`, solved: one }));

describe('The comparison of held-out tasks', () => {
  test('pairs tasks, has an interval, and keeps slices apart', async () => {
    const a = runOf({ after: solvedBy([true, false, false, false, false]), hard: ['t4'] });
    const b = runOf({ after: solvedBy([true, true, true, false, true]), rate: 2 });
    const { result, text } = await compared(a, b);
    const [difference] = result['heldOut'] as HeldOutDifference[];
    expect(difference).toMatchObject({ paired: 5, onlyA: 0, onlyB: 0, otherPrompt: 0 });
    // 3 of 4 less 1 of 4, and 1 of 1 less 0 of 1.
    expect(difference?.change).toMatchObject({ tasks: 4, difference: 0.5 });
    expect(difference?.change?.groups['hard']).toMatchObject({ tasks: 1, difference: 1 });
    expect(text).toMatch(
      /total \(without slices\) +1 of 4 = 25\.0 % .* 3 of 4 = 75\.0 % .*\+50\.0/,
    );
    expect(text).toContain('train.learningRate: 1 -> 2');
    expect(text).toContain('Wall clock: A 10 s, B 20 s');
  });

  test('counts and leaves out tasks that only one run has or whose prompts differ', async () => {
    const a = runOf({ after: solvedBy([true, false, true]) });
    const t1 = { task: 't1', solved: true, prompt: 'Who?' };
    const b = runOf({ after: [...solvedBy([true]), t1, { task: 'new', solved: true }] });
    const { result, text } = await compared(a, b);
    expect(result['heldOut']).toMatchObject([{ paired: 1, onlyA: 1, onlyB: 1, otherPrompt: 1 }]);
    expect(text).toContain('left out: 1 task only in A, 1 only in B, 1 with the same id');
    expect(text).toContain('Slices are unknown');
  });
});

describe('The comparison of training', () => {
  const first = sequence(2, 3);
  const played = (iteration: number, sample: number, change: Partial<typeof first> = {}) => {
    const sequences = [{ ...first, ...change }];
    return member({ when: 'train', iteration, taskId: 'a', sample, sequences });
  };

  test('names the first token that differs, with its turn', async () => {
    const same = [played(1, 0), played(2, 0)];
    const a = runOf({ train: [...same, played(2, 1)] });
    // Tokens are 1, 2 of the prompt and 10, 11, 12 sampled.
    const b = runOf({ train: [...same, played(2, 1, { tokens: [1, 2, 10, 99, 12] })] });
    const { result, text } = await compared(a, b);
    const episode = { iteration: 2, episode: 'train/2/0/0/1', taskId: 'a' };
    const token = { token: 3, source: 'sampled', turn: 1, before: [1, 2, 10] };
    const parted = { ...episode, ...token, a: [11, 12], b: [99, 12] };
    expect(result['parting']).toMatchObject({ compared: 3, unpaired: 0, first: parted });
    expect(text).toContain(
      'The two trainings first differ in iteration 2\n  train/2/0/0/1 of a: token 3, sampled in turn 1',
    );
  });

  test('says that the weights differ where equal tokens have different probabilities', async () => {
    const a = runOf({ train: [played(1, 0), played(2, 0)] });
    const other = played(2, 0, { logProbs: [0, 0, -0.5, -0.4, -0.5] });
    const { result, text } = await compared(a, runOf({ train: [played(1, 0), other] }));
    const counts = { iterations: 2, compared: 2, unpaired: 0, otherProbabilities: 2 };
    expect(result['parting']).toEqual(counts);
    expect(text).toContain('identical tokens in all 2 episodes of the 2 iterations');
    expect(text).toContain(
      'From iteration 2 on, the two runs give different probabilities to the same tokens',
    );
  });

  test('names the end of an episode that is shorter', async () => {
    const a = runOf({ train: [played(1, 0)] });
    const { text } = await compared(a, runOf({ train: [played(1, 0, sequence(2, 4))] }));
    expect(text).toMatch(/A {4}ends here\n {4}B {4}"#13"/);
  });
});

test('runs without a common task are refused with what differs, and so is a folder without a run', async () => {
  const a = runOf({ after: solvedBy([true]) });
  const b = runOf({ after: [{ task: 'z', solved: true }], rate: 3 });
  expect(await rejectionOf(compared(a, b))).toMatchObject(
    errorOf('CONFIG_INVALID', /cannot be compared.*train\.learningRate: 1 -> 3/),
  );
  await expectRejection(compared(folder, folder), 'CHECKPOINT_INVALID', 'is not a run');
});
