import { expect, test } from '@jest/globals';

import type { ResolvedRun } from '#agent_rl/compose/resolve-run.ts';
import { tasksToDraw } from '#agent_rl/jobs/train/ready/ready-agent.ts';
import {
  leftOutText,
  requireSameLeftOut,
  withoutTooLong,
} from '#agent_rl/jobs/train/ready/too-long.ts';
import type { Task } from '#agent_rl/core/tasks/task.ts';

const taskOf = (taskId: string): Task => ({ taskId, prompt: taskId, metadata: {} });
const named = (letters: string): Task[] => Array.from(letters, taskOf);

interface Given {
  tooLong?: string;
  endless?: boolean;
  selection?: string;
}

/** A run of two sets, which keeps `selection` out of training. */
function runOf({ tooLong = 'skip', endless = false, selection = '' }: Given): ResolvedRun {
  const sets = ['abcd', 'wxyz'].map((letters, set) => ({
    weight: 1,
    tasks: named(letters),
    ...(endless && set === 0 && { endless: { source: 'maker', taskAt: () => taskOf('a') } }),
  }));
  const train = sets.flatMap(({ tasks }) => tasks);
  const kept = train.filter(({ taskId }) => selection.includes(taskId));
  const dataset = { tooLong, shuffle: true };
  return {
    config: { run: { seed: 1 }, dataset, rollout: { maxEpisodeTokens: 20 } },
    tasks: { sets, train, selection: kept, evaluation: named('ef') },
  } as unknown as ResolvedRun;
}

/** What becomes of a run some of whose prompts are too long. */
function without(letters: string, given: Given = {}) {
  const run = runOf(given);
  const { train, evaluation } = run.tasks;
  const tooLong = [...train, ...evaluation]
    .filter(({ taskId }) => letters.includes(taskId))
    .map((task, place) => ({ task, tokens: 20 + place }));
  return withoutTooLong(run, { tooLong });
}

const ids = (tasks: readonly Task[]): string => tasks.map(({ taskId }) => taskId).join('');

test('prompts that leave no room are refused, all at once, and the setting that leaves them out is named', () => {
  expect(() => without('bf', { tooLong: 'refuse' })).toThrow(
    /^2 of 10 prompts leave no room .* = 20: "b" \(20 tokens\), "f" \(21 tokens\)\. .* dataset\.tooLong: skip\.$/,
  );
  expect(without('', { tooLong: 'refuse' }).leftOut).toEqual([]);
});

test('a task that is left out is neither dealt from any set, nor evaluated on, nor chosen by', () => {
  const { run, leftOut } = without('bxzf', { selection: 'axy' });
  expect(leftOut.map(({ taskId, tokens }) => `${taskId}${tokens}`)).toEqual([
    ...['b20', 'x21', 'z22', 'f23'],
  ]);
  const { train, evaluation, selection } = run.tasks;
  expect([train, evaluation, selection].map(ids)).toEqual(['acdwy', 'e', 'ay']);
  const plan = tasksToDraw(run);
  const dealt = ids([...plan.tasksAt(0, 40), ...plan.tasksInstead(40, [1])]);
  expect([...new Set(dealt)].toSorted().join('')).toBe('cdw');
  // By the seed, in the same order again.
  expect(ids(tasksToDraw(without('bxzf', { selection: 'axy' }).run).tasksAt(0, 40))).toBe(
    ids(plan.tasksAt(0, 40)),
  );
});

test('too long tasks of an endless generator are refused, and too long tasks of files beside it are left out', () => {
  expect(() => without('a', { endless: true })).toThrow(
    'Tasks of an endless generator cannot be skipped.',
  );
  expect(ids(without('xf', { endless: true }).run.tasks.train)).toBe('abcdwyz');
});

test.each([
  ['wxyz', {}, 'Without them, a data set has no training tasks.'],
  ['abc', { selection: 'd' }, 'Without them, a data set has no training tasks.'],
  ['ef', {}, 'Without them, there are no held-out tasks.'],
  ['bc', { selection: 'bc' }, 'Without them, there are no tasks for choosing the best checkpoint.'],
])('a run that would be left without tasks is refused: %s %j', (letters, given, why) => {
  expect(() => without(letters, given)).toThrow(why);
});

test('five are shown, and all are named in the log', () => {
  const { run, leftOut } = without('abcwxy');
  expect(leftOutText(run.config, leftOut, 'first')).toMatch(
    /: 6 tasks: "a" \(20 tokens\), "b" .*, "c" .*, "w" .*, "x" \(24 tokens\), …\.$/,
  );
  expect(leftOutText(run.config, leftOut, 'all')).toContain('"x" (24 tokens), "y" (25 tokens).');
});

test('a run is resumed with the tasks left out that it began without', () => {
  const now = [{ taskId: 'a', tokens: 20 }];
  expect(() => requireSameLeftOut({ leftOut: ['a'] }, now)).not.toThrow();
  expect(() => requireSameLeftOut({ leftOut: ['b'] }, now)).toThrow(
    'The run skipped 1 task with too long prompts, but would now skip 1; the difference: "b", "a".',
  );
  expect(() => requireSameLeftOut({ leftOut: ['a'] }, [])).toThrow('would now skip 0');
});
