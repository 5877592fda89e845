import { describe, expect, test } from '@jest/globals';

import { environments } from '#agent_rl/core/plugins/environment.ts';
import { evaluateAgent, trainAgent } from '#agent_rl/index.ts';
import { agentInCode, type AgentParts } from '#agent_rl/jobs/code/agent-in-code.ts';
import { callInstead } from '#agent_rl/jobs/code/call-instead.ts';

const given = async (parts: AgentParts, base?: string) => {
  const { settings, exported } = await agentInCode(parts, { caller: 'trainAgent', base });
  return { block: (settings as Record<string, unknown>)['environment'], exported };
};
const agent = () => '42';

describe('An agent with a loop of its own that a program gives', () => {
  test('becomes the environment of the run, and is not marked itself', async () => {
    const { block, exported } = await given({ agent });
    expect(block).toEqual({ type: 'agent' });
    expect(exported.map((plugin) => environments.specOf(plugin)?.name)).toEqual(['agent']);
    expect(environments.specOf(agent)).toBeUndefined();
  });

  test('is judged by rewards alone where they are given', async () => {
    expect((await given({ agent, reward: () => 1 })).block).toEqual({
      type: 'agent',
      match: 'rewards',
    });
    expect((await given({ agent, rewards: [{ type: 'f1' }] })).block).toMatchObject({
      match: 'rewards',
    });
  });

  test('replaces the environment of the run that it is evaluated with', async () => {
    expect((await given({ agent }, 'runs/one/config.yaml')).block).toEqual({ type: 'agent' });
    expect((await given({}, 'runs/one/config.yaml')).block).toBeUndefined();
  });

  test('is named by its option in the error when it is missing', () => {
    expect(callInstead.evaluate('runs/one')([{ kind: 'environments', name: 'agent' }])).toBe(
      "In a program, call evaluateAgent('runs/one', { agent }).",
    );
  });
});

test('receives tasks of the type of the rows, as its reward does', () => {
  // Compiled, and never called.
  expect(typed).toBeInstanceOf(Function);
});

function typed(): void {
  const tasks = [{ question: 'How many?', answer: 42, level: 3 }];
  void trainAgent({
    tasks,
    agent: ({ task, signal }) => (signal.aborted ? undefined : task.metadata.level + task.answer),
    reward: ({ task, answer }) => (answer === task.answer ? task.metadata.level : 0),
  });
  void trainAgent({
    tasks,
    // @ts-expect-error A row has no such field.
    agent: ({ task }) => task.metadata.levl,
  });
  const prompts = [{ prompt: 'How many?', answer: 'two', level: 3 }];
  void trainAgent({
    tasks: prompts,
    agent: async ({ task, fetch, baseURL, apiKey, random }) => {
      await fetch(`${baseURL}/models`, { headers: { 'x-key': apiKey } });
      return random.integer(task.metadata.level);
    },
    reward: ({ task, answer }) => (answer === task.answer ? 1 : 0),
  });
  // Of a file the rows are not known: a task has its prompt, and perhaps an answer.
  void trainAgent({
    tasks: 'questions.jsonl',
    evalTasks: 'held-out.csv',
    agent: ({ task }) => task.prompt,
    reward: ({ task, answer }) => (answer === task.answer ? 1 : 0),
    isModelError: (thrown) => thrown instanceof RangeError,
  });
  void trainAgent<{ question: string; answer: string; level: number }>({
    tasks: 'questions.jsonl',
    agent: ({ task }) => task.metadata.level,
    reward: ({ task }) => task.answer.length,
  });
  void evaluateAgent('runs/one', { agent: ({ task }) => task.prompt, tasks: 'held-out.csv' });
}
