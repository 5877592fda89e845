import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { type Message, user } from '#agent_rl/core/message.ts';
import type { Member } from '#agent_rl/core/rollout.ts';
import { compareRuns } from '#agent_rl/jobs/compare/compare-runs.ts';
import type { HeldOutDifference } from '#agent_rl/jobs/compare/held-out-difference.ts';
import { rolloutsOfMembers, writeJournal } from '#tests/support/journal.ts';
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
  writeBelow(run, 'config.yaml', `run: {seed: 1}\ntrain: {learningRate: ${rate}}\n`);
  writeBelow(run, 'summary.json', JSON.stringify({ wallSeconds: 10 * rate, cpuSeconds: 20 }));
  const attempts = after.map(({ task, solved, prompt = 'Why?' }, slot) => {
    const key = { when: 'after', iteration: 5, slot, taskId: task } as const;
    const messages: Message[] = [user(prompt), { role: 'assistant', content: String(solved) }];
    return member({ ...key, reward: Number(solved), messages });
  });
  writeJournal(run, { rollouts: rolloutsOfMembers([...train, ...attempts]) });
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

  test('names the first event that differs, and what of it', async () => {
    const same = [played(1, 0), played(2, 0)];
    const a = runOf({ train: [...same, played(2, 1)] });
    // Tokens are 1, 2 of the prompt and 10, 11, 12 sampled.
    const b = runOf({ train: [...same, played(2, 1, { tokens: [1, 2, 10, 99, 12] })] });
    const { result, text } = await compared(a, b);
    const event = expect.stringMatching(/^rollout train\/2\/0\/0\/1\b/) as unknown;
    const found = { batch: 'train 2', event, at: 'tokens[3]', a: 11, b: 99 };
    expect(result['parting']).toEqual({ batches: 1, events: 1, first: found, unreadable: [] });
    expect(text).toMatch(
      /Training: 1 event of 1 iteration .*First difference: rollout train\/2\/0\/0\/1\b.*\n {2}tokens\[3\]\n {4}A 11\n {4}B 99\n/,
    );
  });

  test.each([
    [
      'probabilities of equal tokens',
      { logProbs: [0, 0, -0.5, -0.25, -0.5] },
      'logProbs[1]',
      -0.25,
    ],
    ['the end of an episode that is longer', sequence(2, 4), 'tokens[5]', 13],
  ])('names %s', async (_, change, at, b) => {
    const one = runOf({ train: [played(1, 0), played(2, 0)] });
    const other = runOf({ train: [played(1, 0), played(2, 0, change)] });
    const { result } = await compared(one, other);
    expect(result['parting']).toMatchObject({ batches: 1, first: { batch: 'train 2', at, b } });
  });

  test('says that nothing differs', async () => {
    const train = [played(1, 0), played(2, 0)];
    const { text } = await compared(runOf({ train }), runOf({ train: [...train, played(3, 0)] }));
    expect(text).toMatch(/Training: 2 events of 2 iterations .* are identical; nothing differs\./);
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
