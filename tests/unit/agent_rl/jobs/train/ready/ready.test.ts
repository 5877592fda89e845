import { expect, test } from '@jest/globals';

import type { Agent } from '#agent_rl/compose/open-agent.ts';
import type { ResolvedRun } from '#agent_rl/compose/resolve-run.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import type { Task } from '#agent_rl/core/tasks/task.ts';
import { measurePrompts, promptsText } from '#agent_rl/jobs/train/ready/measure-prompts.ts';
import { tasksToDraw } from '#agent_rl/jobs/train/ready/ready-agent.ts';
import {
  leftOutText,
  requireSameLeftOut,
  withoutTooLong,
} from '#agent_rl/jobs/train/ready/too-long.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { ScriptedEnvironment } from '#tests/support/scripted-environment.ts';
import { says, ScriptedPolicy } from '#tests/support/scripted-policy.ts';

const taskOf = (taskId: string): Task => ({ taskId, prompt: taskId, metadata: {} });
const named = (letters: string): Task[] => Array.from(letters, taskOf);

interface Given {
  tooLong?: string;
  endless?: boolean;
  selection?: string;
}

/** A run of two sets, which keeps `selection` out of training. */
function runOf({ tooLong = 'skip', endless = false, selection = '' }: Given): ResolvedRun {
  const maker = endless ? { endless: { source: 'maker', taskAt: () => taskOf('a') } } : {};
  const sets = [
    { weight: 1, tasks: named('abcd'), ...maker },
    { weight: 1, tasks: named('wxyz') },
  ];
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
  const names = leftOut.map(({ taskId, tokens }) => `${taskId} ${tokens}`);
  expect(names).toEqual(['b 20', 'x 21', 'z 22', 'f 23']);
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
    /Skipped 6 tasks .*: "a" \(20 tokens\), "b" .*, "c" .*, "w" .*, "x" \(24 tokens\), …\.$/,
  );
  expect(leftOutText(run.config, leftOut, 'all')).toContain('"x" (24 tokens), "y" (25 tokens).');
});

test('a run is resumed with the tasks left out that it began without', () => {
  const now = [{ taskId: 'a', tokens: 20 }];
  expect(() => requireSameLeftOut({ leftOut: ['a'] }, now)).not.toThrow();
  expect(() => requireSameLeftOut({ leftOut: ['b'] }, now)).toThrow(
    'The run skipped 1 task with prompts that are too long, but would now skip 1. Tasks that differ: "b", "a".',
  );
  expect(() => requireSameLeftOut({ leftOut: ['a'] }, [])).toThrow('would now skip 0');
});

const never = new AbortController().signal;
const tasks = ['a', 'b', 'c'].map((taskId) => ({ taskId, prompt: '', metadata: {} }));
const run = (maxEpisodeTokens: number): never =>
  ({
    config: { rollout: { maxEpisodeTokens, deadlines: { environmentS: 0.05 } } },
    tasks: { train: tasks.slice(0, 2), selection: tasks.slice(1, 2), evaluation: tasks.slice(2) },
  }) as never;

/** Prompts of 10, 20 and 30 tokens; environments that are asked to finish say so. */
function agentOf(finished: string[] = [], start?: () => never): Pick<Agent, 'make'> {
  return {
    make: ({ task }) => ({
      policy: new ScriptedPolicy(
        () => ({ message: says('') }),
        10 * (1 + 'abc'.indexOf(task.taskId)),
      ),
      world: worldOfOne(
        new ScriptedEnvironment({
          ...(start && { start }),
          finish: async (end) => {
            finished.push(`${task.taskId} ${end}`);
            return { outcome: 'aborted', reward: undefined, components: {}, success: false };
          },
        }),
      ),
      tools: new Map(),
      toolRunner: new ToolRunner([]),
      rewards: [],
      invalidCallPenalty: 0,
      limits: { maxTurns: 1, maxEpisodeTokens: 1, maxTurnTokens: 1, invalidCallLimit: 1 },
    }),
  };
}

test('prompts are measured before the run, all that are too long at once, and their environments finished', async () => {
  const finished: string[] = [];
  const lengths = await measurePrompts(agentOf(finished), run(31), never);
  const measured = { tasks: 3, longest: 30, meanTokens: 20 };
  expect(lengths).toEqual({ ...measured, tooLong: [], unmeasured: [] });
  expect(finished).toEqual(['a aborted', 'b aborted', 'c aborted']);
  expect(promptsText(lengths)).toBe('Prompts: 3 measured, the longest of 30 tokens');
  const [, second, third] = tasks;
  const tooLong = [second, third].map((task, place) => ({ task, tokens: 20 + 10 * place }));
  expect(await measurePrompts(agentOf(), run(20), never)).toMatchObject({ tooLong });
});

test('a plugin that can be made for no task ends the run before it begins, and one task does not', async () => {
  const { make } = agentOf();
  const failing = (unmade: string) => ({
    make: (request: Parameters<typeof make>[0]) => {
      if (unmade.includes(request.task.taskId))
        throw new AgentRlError('PLUGIN_LOAD_FAILED', 'no walls.');
      return make(request);
    },
  });
  await expect(measurePrompts(failing('abc'), run(31), never)).rejects.toMatchObject({
    code: 'PLUGIN_LOAD_FAILED',
  });
  expect((await measurePrompts(failing('ab'), run(31), never)).unmeasured).toEqual([
    'The prompts of 2 of 3 tasks could not be measured: no walls.',
  ]);
});

test.each([
  [
    'never starts',
    () => new Promise<never>(() => {}),
    /0\.05 s \(rollout\.deadlines\.environmentS/,
  ],
  ['cannot start', () => Promise.reject(new Error('no port is free')), /no port is free$/],
])('an environment that %s is reported, and the run starts', async (_, start, why) => {
  const lengths = await measurePrompts(agentOf([], start as never), run(31), never);
  const unmeasured = [expect.stringMatching(why)];
  expect(lengths).toEqual({ tasks: 0, longest: 0, meanTokens: 0, tooLong: [], unmeasured });
  expect(lengths.unmeasured[0]).toMatch(/^The prompts of 3 of 3 tasks could not be measured: /);
});

test('prompts that an agent with a loop of its own writes are not measured, and nothing is said against it', async () => {
  const parts = { close: async () => undefined, world: { outside: {} } };
  const agent = { make: async () => parts } as unknown as Parameters<typeof measurePrompts>[0];
  const lengths = await measurePrompts(agent, run(31), never);
  expect(lengths).toMatchObject({ tasks: 0, tooLong: [], unmeasured: [] });
  expect(promptsText(lengths)).toMatch(/^Prompts: created at run time/);
});
