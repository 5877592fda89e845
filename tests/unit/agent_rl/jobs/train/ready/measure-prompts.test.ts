import { expect, test } from '@jest/globals';

import type { Agent } from '#agent_rl/compose/open-agent.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import { measurePrompts, promptsText } from '#agent_rl/jobs/train/ready/measure-prompts.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { ScriptedEnvironment } from '#tests/support/scripted-environment.ts';
import { says, ScriptedPolicy } from '#tests/support/scripted-policy.ts';

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

test('prompts are measured before the run, and their environments finished', async () => {
  const finished: string[] = [];
  const lengths = await measurePrompts(agentOf(finished), run(31), never);
  const measured = { tasks: 3, longest: 30, meanTokens: 20 };
  expect(lengths).toEqual({ ...measured, tooLong: [], unmeasured: [] });
  expect(finished).toEqual(['a aborted', 'b aborted', 'c aborted']);
  expect(promptsText(lengths)).toBe('Prompts: 3 measured, the longest of 30 tokens');
});

test('prompts that leave no room are found before the run, all at once', async () => {
  expect((await measurePrompts(agentOf(), run(20), never)).tooLong).toEqual([
    { task: tasks[1], tokens: 20 },
    { task: tasks[2], tokens: 30 },
  ]);
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
  expect(lengths).toEqual({
    ...{ tasks: 0, longest: 0, meanTokens: 0, tooLong: [] },
    unmeasured: [expect.stringMatching(why)],
  });
  expect(lengths.unmeasured[0]).toMatch(/^The prompts of 3 of 3 tasks could not be measured: /);
});

test('prompts that an agent with a loop of its own writes are not measured, and nothing is said against it', async () => {
  const parts = { close: async () => undefined, world: { outside: {} } };
  const agent = { make: async () => parts } as unknown as Parameters<typeof measurePrompts>[0];
  const lengths = await measurePrompts(agent, run(31), never);
  expect(lengths).toMatchObject({ tasks: 0, tooLong: [], unmeasured: [] });
  expect(promptsText(lengths)).toMatch(/^Prompts: created by the agent at run time/);
});
