import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { defineTool } from '#agent_rl/core/plugins/define-tool.ts';
import { environments } from '#agent_rl/core/plugins/environment.ts';
import {
  type JudgedGroup,
  rewardManager,
  type RewardManagerFunction,
  rewardManagers,
} from '#agent_rl/core/plugins/reward-manager.ts';
import { tools } from '#agent_rl/core/plugins/tool.ts';
import { tracker } from '#agent_rl/core/plugins/tracker.ts';
import { evaluateAgent, loadAgent, trainAgent } from '#agent_rl/index.ts';
import { agentInCode, type AgentParts } from '#agent_rl/jobs/code/agent-in-code.ts';
import { type AiSdkTool, aiSdkTools } from '#agent_rl/jobs/code/ai-sdk-tools.ts';
import { callInstead } from '#agent_rl/jobs/code/call-instead.ts';
import { checkLoadOptions, checkTrainingOptions } from '#agent_rl/jobs/code/check-options.ts';
import { writeEvaluationTasks, writeTrainingTasks } from '#agent_rl/jobs/code/task-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, expectRejection, rejectionOf, thrownBy } from '#tests/support/thrown.ts';

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

  test('given as a function receives the group, and stays unmarked', async () => {
    const { rewardManager: block, exported } = await given({ rewardManager: zeros });
    const [plugin] = exported as [RewardManagerFunction];
    expect(rewardManagers.specOf(plugin)?.name).toBe((block as { type: string }).type);
    expect(rewardManagers.specOf(zeros)).toBeUndefined();
    const group = { task: { taskId: 't', prompt: '', metadata: {} }, terms: [], episodes: [] };
    expect(plugin(group, {}, new AbortController().signal)).toEqual({ rewards: [] });
  });

  test('given as a class without a mark is refused', async () => {
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

const { signal } = new AbortController();
const context = { signal, inputs: {}, idempotencyKey: 'call', random: new KeyedRng(1) };

const only = async (tool: AiSdkTool) => {
  const [made] = await aiSdkTools({ weather: tool });
  if (made === undefined) throw new Error('no tool was made');
  return { spec: tools.specOf(made), call: (args: object) => new made().call(args, context) };
};

// As `jsonSchema()` of ai 6.0.326 makes it.
const sdkSchema = (validate?: (value: unknown) => unknown) => ({
  [Symbol.for('vercel.ai.schema')]: true,
  _type: undefined,
  jsonSchema: Promise.resolve({ type: 'object', properties: { city: { type: 'string' } } }),
  validate,
});

test('a tool with a zod schema has the name of its key and is given the abort signal', async () => {
  const { spec, call } = await only({
    description: 'Weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }: { city: string }, { abortSignal }: { abortSignal: AbortSignal }) => ({
      city,
      aborted: abortSignal.aborted,
    }),
  });
  const parameters = { type: 'object', required: ['city'] };
  expect(spec).toMatchObject({ name: 'weather', description: 'Weather of a city.', parameters });
  const { content } = await call({ city: 'Bern' });
  expect(content).toBe('{"city":"Bern","aborted":false}');
});

test('a schema of the SDK itself may be a promise, lazy, and refuse', async () => {
  const refusing = (value: unknown) =>
    (value as { city: string }).city === 'Atlantis'
      ? { success: false, error: new Error('no such city') }
      : { success: true, value };
  const { spec, call } = await only({
    description: 'Weather of a city.',
    inputSchema: () => sdkSchema(refusing),
    execute: ({ city }: { city: string }) => city,
  });
  expect(spec?.parameters).toEqual({ type: 'object', properties: { city: { type: 'string' } } });
  expect(await call({ city: 'Bern' })).toEqual({ content: 'Bern' });
  const refused = { content: 'Error: no such city', isError: true };
  expect(await call({ city: 'Atlantis' })).toEqual(refused);
});

test.each([
  ['without execute', { description: 'x', inputSchema: sdkSchema() }, /has no execute/],
  ['without description', { inputSchema: sdkSchema(), execute: () => 1 }, /has no description/],
])('a tool %s is refused', async (_, tool, message) => {
  const refused = rejectionOf(aiSdkTools({ weather: tool }));
  expect(await refused).toMatchObject(errorOf('PLUGIN_LOAD_FAILED', message));
});

const outputDir = temporaryFolder();
const rowsOf = (dir: string, split: string) =>
  readFileSync(join(dir, `${split}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { task_id: string });

async function* twenty() {
  for (let i = 0; i < 20; i++) yield { question: `q${i}`, answer: i };
}

const written = (
  tasks: Parameters<typeof writeTrainingTasks>[0]['tasks'],
  evalTasks?: typeof tasks,
) => writeTrainingTasks({ outputDir, tasks, evalTasks, seed: 1 });

test('a tenth of the tasks is held out by the seed, and a note says so', async () => {
  const { dir, notes } = await written(twenty());
  const [train, heldOut] = [rowsOf(dir, 'train'), rowsOf(dir, 'eval')];
  expect([train.length, heldOut.length]).toEqual([18, 2]);
  expect(new Set([...train, ...heldOut].map(({ task_id: id }) => id)).size).toBe(20);
  expect(notes).toEqual([expect.stringMatching(/^evalTasks was not given: 2 of 20 tasks, /)]);
});

test('the folder is named by what it holds, and written once', async () => {
  const first = { taskId: 'a', prompt: 'x' };
  const write = (answer: number) =>
    written([first, { task_id: 'b', prompt: 'y', answer }], [{ prompt: 'z' }]);
  const { dir, notes } = await write(1);
  const before = statSync(join(dir, 'train.jsonl')).mtimeMs;
  expect(rowsOf(dir, 'train')).toEqual([
    { task_id: 'a', prompt: 'x' },
    { task_id: 'b', prompt: 'y', answer: 1 },
  ]);
  expect(rowsOf(dir, 'eval')).toEqual([{ task_id: 'evalTasks-1', prompt: 'z' }]);
  expect(notes).toEqual([]);
  expect((await write(1)).dir).toBe(dir);
  expect(statSync(join(dir, 'train.jsonl')).mtimeMs).toBe(before);
  expect(basename((await write(2)).dir)).not.toBe(basename(dir));
});

test('tasks that are only attempted have no other split', async () => {
  const dir = await writeEvaluationTasks(outputDir, [{ prompt: 'z' }]);
  expect(rowsOf(dir, 'eval')).toEqual([{ task_id: 'tasks-1', prompt: 'z' }]);
});

test('tasks may be the path of a file of any kind that is read', async () => {
  const csv = writeBelow(outputDir, 'questions.csv', 'question,answer\nQ,1\nR,\n');
  const list = writeBelow(outputDir, 'held-out.json', '[{"task_id": "h", "prompt": "P"}]');
  const { dir } = await written(csv, list);
  expect(rowsOf(dir, 'train')).toEqual([
    { task_id: 'tasks-1', question: 'Q', answer: '1' },
    { task_id: 'tasks-2', question: 'R', answer: '' },
  ]);
  expect(rowsOf(dir, 'eval')).toEqual([{ task_id: 'h', prompt: 'P' }]);
  const none = join(outputDir, 'none.jsonl');
  const broken = writeBelow(outputDir, 'broken.jsonl', '{"prompt": "x"}\n{"prompt"\n7\n');
  for (const [file, place] of [
    [none, 'none.jsonl'],
    [broken, 'broken.jsonl:2'],
  ] as const) {
    await expectRejection(writeEvaluationTasks(outputDir, file), 'DATASET_INVALID', place);
  }
});

test.each([
  ['none', [], 'tasks contains no tasks.'],
  ['one, of which none can be held out', [{ prompt: 'x' }], 'tasks has 1 row, too few to hold'],
  ['a row that is no object', [{ prompt: 'x' }, 'y'], 'tasks: row 2 is "y".'],
])('tasks are refused: %s', async (_, tasks, message) => {
  await expectRejection(written(tasks as object[]), 'DATASET_INVALID', message);
});

const tasks = [{ question: 'What is 1 + 1?', answer: '2' }];
const inputSchema = { type: 'object', properties: {} } as const;
const noop = defineTool({ name: 'noop', description: 'Nothing.', inputSchema, execute: () => '' });
const problemsOf = (options: unknown) =>
  (thrownBy(() => checkTrainingOptions(options)) as Error).message.split('\n  ').slice(1);

test('options of a wrong form are refused together, each with what is allowed', () => {
  const raw = [{ name: 'raw', execute: () => '' }];
  const wrong = { tasks: 7, reward: 'f1', rewards: () => 1, iterations: 3, tools: raw };
  expect(problemsOf(wrong)).toEqual([
    expect.stringMatching(/^trainAgent tasks: expected a list or .*, got 7\.$/),
    expect.stringMatching(/^trainAgent reward: expected a function .*, got "f1"\.$/),
    expect.stringMatching(/^trainAgent rewards: expected a list, got /),
    expect.stringMatching(/^trainAgent iterations: is not a known key\..* Allowed: signal, /),
    expect.stringMatching(/^trainAgent tools\.0: is a plain object, not a tool\. Wrap it: /),
  ]);
  expect(problemsOf({ tasks, tools: noop, algorithm: 'dr-grpo' })).toEqual([
    expect.stringMatching(/^trainAgent tools: expected a list such as \[defineTool/),
    expect.stringMatching(/^trainAgent algorithm: expected a block .*, got "dr-grpo"\.$/),
  ]);
});

test('a training without tasks, or with parts beside a run file, is refused', async () => {
  expect(problemsOf({})).toEqual([expect.stringMatching(/^trainAgent tasks: is missing/)]);
  expect(problemsOf({ config: 'run.yaml', tools: [noop] })).toEqual([
    expect.stringMatching(/^trainAgent tools: has no effect beside config/),
  ]);
  const nothing = undefined as unknown as { config: string };
  const refused = trainAgent(nothing);
  await expectRejection(refused, 'CONFIG_INVALID', 'trainAgent expected an object, got ');
});

test('an agent with a loop of its own excludes the options that it would not use', () => {
  const agents = [{ name: 'one' }];
  expect(problemsOf({ tasks, agent, tools: [noop], environment: 'question', agents })).toEqual(
    ['tools', 'environment', 'agents'].map((option) =>
      expect.stringContaining(`trainAgent ${option}: cannot be combined with agent, which `),
    ),
  );
  expect(problemsOf({ tasks, agent: 'mine', isModelError: true })).toEqual([
    expect.stringMatching(/^trainAgent agent: expected a function .*, got "mine"\.$/),
    expect.stringMatching(/^trainAgent isModelError: expected a function .*, got true\.$/),
  ]);
  expect(problemsOf({ tasks, isModelError: () => false })).toEqual([
    expect.stringMatching(/^trainAgent isModelError: needs agent, /),
  ]);
});

test('valid options pass, also undefined ones', () => {
  checkTrainingOptions({ tasks: new Set(tasks), tools: [noop], reward: () => 1, signal });
  checkTrainingOptions({ tasks: 'tasks.jsonl', agent: () => '', isModelError: () => false });
  checkTrainingOptions({ config: 'run.yaml', plugins: ['./a.ts'], model: undefined });
  checkLoadOptions({ tools: { weather: {} }, environment: 'question' });
});

test('a missing agent is refused, and so is a model without tasks', async () => {
  for (const opened of [evaluateAgent('runs/none'), loadAgent('runs/none')])
    await expectRejection(opened, 'CHECKPOINT_INVALID', /there is no .*none\. Give a run folder/);
  const refused = evaluateAgent('model/starter');
  await expectRejection(refused, 'CONFIG_INVALID', 'evaluateAgent tasks: is missing');
});

test('a tool without execute is refused where it is defined', () => {
  const execute = undefined as unknown as () => string;
  const defining = () => defineTool({ name: 'x', description: 'y', inputSchema, execute });
  expect(thrownBy(defining)).toMatchObject(
    errorOf('PLUGIN_LOAD_FAILED', 'Tool "x" has no execute'),
  );
});
