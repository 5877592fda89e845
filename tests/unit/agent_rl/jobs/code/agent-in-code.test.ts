import { describe, expect, test } from '@jest/globals';

import { environments } from '#agent_rl/core/plugins/environment.ts';
import {
  type JudgedGroup,
  rewardManager,
  type RewardManagerFunction,
  rewardManagers,
} from '#agent_rl/core/plugins/reward-manager.ts';
import { tracker } from '#agent_rl/core/plugins/tracker.ts';
import { trainAgent } from '#agent_rl/index.ts';
import { agentInCode, type AgentParts } from '#agent_rl/jobs/code/agent-in-code.ts';
import { callInstead } from '#agent_rl/jobs/code/call-instead.ts';

/** The blocks of settings that parts of a program become, and the plugins that they bring. */
async function given(parts: AgentParts, base?: string) {
  const { settings, exported } = await agentInCode(parts, { caller: 'trainAgent', base });
  return {
    ...(settings as Record<'environment' | 'rewardManager' | 'trackers', unknown>),
    exported,
  };
}
const agent = () => '42';

describe('An agent with a loop of its own that a program gives', () => {
  test('becomes the environment of the run, and is not marked itself', async () => {
    const { environment, exported } = await given({ agent });
    expect(environment).toEqual({ type: 'agent' });
    expect(exported.map((plugin) => environments.specOf(plugin)?.name)).toEqual(['agent']);
    expect(environments.specOf(agent)).toBeUndefined();
  });

  test.each<[string, AgentParts]>([
    ['a function', { agent, reward: () => 1 }],
    ['blocks', { agent, rewards: [{ type: 'f1' }] }],
  ])('is judged by rewards alone where they are given as %s', async (_, parts) => {
    expect((await given(parts)).environment).toEqual({ type: 'agent', match: 'rewards' });
  });

  test('replaces the environment of the run that it is evaluated with', async () => {
    const { environment } = await given({ agent }, 'runs/one/config.yaml');
    expect(environment).toEqual({ type: 'agent' });
    expect((await given({}, 'runs/one/config.yaml')).environment).toBeUndefined();
  });

  test('is named by its option in the error when it is missing', () => {
    expect(callInstead.evaluate('runs/one')([{ kind: 'environments', name: 'agent' }])).toBe(
      "In a program, call evaluateAgent('runs/one', { agent }).",
    );
  });
});

test('an agent receives tasks of the type of the rows, as its reward does', () => {
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
  // Of a file the rows are not known: a task has its prompt, and perhaps an answer.
  void trainAgent({
    tasks: 'questions.jsonl',
    agent: ({ task, random }) => `${task.prompt} ${random.integer(2)}`,
    reward: ({ task, answer }) => (answer === task.answer ? 1 : 0),
  });
  void trainAgent<{ question: string; answer: string; level: number }>({
    tasks: 'questions.jsonl',
    agent: ({ task }) => task.metadata.level,
    reward: ({ task }) => task.answer.length,
  });
}

describe('A reward manager', () => {
  const zeros = ({ episodes }: JudgedGroup) => ({ rewards: episodes.map(() => 0) });

  test('is a name, a block, a function, or one that is marked', async () => {
    const block = { type: 'mine', ties: 1 };
    const marked = rewardManager({ name: 'zeros', description: 'Gives everyone 0.' })(
      (group: JudgedGroup) => zeros(group),
    );
    for (const [manager, expected, plugins] of [
      ['ranking', { type: 'ranking' }, []],
      [block, block, []],
      [marked, { type: 'zeros' }, [marked]],
    ] as const) {
      const made = await given({ rewardManager: manager });
      expect([made.rewardManager, made.exported]).toEqual([expected, plugins]);
    }
  });

  test('that is a function is asked with the group, and stays unmarked', async () => {
    const { rewardManager: block, exported } = await given({ rewardManager: zeros });
    const [plugin] = exported as [RewardManagerFunction];
    expect(rewardManagers.specOf(plugin)?.name).toBe((block as { type: string }).type);
    expect(rewardManagers.specOf(zeros)).toBeUndefined();
    const group = { task: { taskId: 't', prompt: '', metadata: {} }, terms: [], episodes: [] };
    expect(plugin(group, {}, new AbortController().signal)).toEqual({ rewards: [] });
  });

  test('that is a class without a mark is refused', async () => {
    class Unmarked {
      assign = undefined;
    }
    Object.assign(Unmarked.prototype, { assign: zeros });
    await expect(given({ rewardManager: Unmarked as never })).rejects.toThrow(
      'rewardManager is not marked as a reward manager.',
    );
  });
});

test("a program's trackers are marked functions, and blocks", async () => {
  const own = tracker({ name: 'own', description: 'Keeps nothing.' })(() => undefined);
  const blocks = [{ type: 'own' }, { type: 'tensorboard', queue: 5 }];
  const { trackers, exported } = await given({ trackers: [own, blocks[1]!] });
  expect(trackers).toMatchObject(blocks);
  expect(exported).toEqual([own]);
  await expect(given({ trackers: [() => undefined] })).rejects.toThrow(
    'trackers[0] is not marked as a tracker.',
  );
});
