import { expect, test } from '@jest/globals';

import { evaluateAgent, loadAgent, trainAgent } from '#agent_rl/index.ts';
import { defineTool } from '#agent_rl/core/plugins/define-tool.ts';
import { checkLoadOptions, checkTrainingOptions } from '#agent_rl/jobs/code/check-options.ts';
import { rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const tasks = [{ question: 'What is 1 + 1?', answer: '2' }];
const inputSchema = { type: 'object', properties: {} } as const;
const noop = defineTool({ name: 'noop', description: 'Nothing.', inputSchema, execute: () => '' });
const problemsOf = (options: unknown) =>
  (thrownBy(() => checkTrainingOptions(options)) as Error).message.split('\n  ').slice(1);

test('options of a wrong form are refused together, each with what is allowed', () => {
  const tools = [{ name: 'raw', execute: () => '' }];
  const wrong = { tasks: 7, reward: 'f1', rewards: () => 1, iterations: 3, tools };
  expect(problemsOf(wrong)).toEqual([
    'trainAgent tasks: expected a list or (async) iterable of rows, or the path of a file of rows, got 7.',
    'trainAgent reward: expected a function that takes the finished episode; put names and blocks into rewards, got "f1".',
    expect.stringMatching(/^trainAgent rewards: expected a list, got /),
    expect.stringMatching(/^trainAgent iterations: is not a known key\..* Allowed: signal, /),
    'trainAgent tools.0: is a plain object, not a tool. Wrap it: defineTool({ … }).',
  ]);
  expect(problemsOf({ tasks, tools: noop })).toEqual([
    expect.stringMatching(/^trainAgent tools: expected a list such as \[defineTool/),
  ]);
  expect(problemsOf({ tasks, algorithm: 'dr-grpo' })).toEqual([
    `trainAgent algorithm: expected a block of settings such as { name: 'dr-grpo' }, got "dr-grpo".`,
  ]);
});

test('a training without tasks, or with parts beside a run file, is refused', async () => {
  expect(problemsOf({})).toEqual([expect.stringMatching(/^trainAgent tasks: is missing/)]);
  expect(problemsOf({ config: 'run.yaml', tools: [noop] })).toEqual([
    expect.stringMatching(/^trainAgent tools: has no effect beside config/),
  ]);
  const nothing = undefined as unknown as { config: string };
  expect(await rejectionOf(trainAgent(nothing))).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/trainAgent expected an object, got /),
  });
});

test('an agent with a loop of its own excludes the options that it would not use', () => {
  const agent = () => '';
  const agents = [{ name: 'one' }];
  expect(problemsOf({ tasks, agent, tools: [noop], environment: 'question', agents })).toEqual([
    'trainAgent tools: cannot be combined with agent, which calls its own tools and would ignore these. Remove one of the two.',
    'trainAgent environment: cannot be combined with agent, which serves as the environment itself. Remove one of the two.',
    'trainAgent agents: cannot be combined with agent, which is a single agent; agents configures an environment with several. Remove one of the two.',
  ]);
  expect(problemsOf({ tasks, agent: 'mine', isModelError: true })).toEqual([
    'trainAgent agent: expected a function that runs the agent and returns its answer, got "mine".',
    'trainAgent isModelError: expected a function that takes the error that the agent threw, got true.',
  ]);
  expect(problemsOf({ tasks, isModelError: () => false })).toEqual([
    'trainAgent isModelError: needs agent, whose errors it classifies. Give agent, or remove isModelError.',
  ]);
});

test('valid options pass, also undefined ones', () => {
  const signal = AbortSignal.timeout(1);
  checkTrainingOptions({ tasks: new Set(tasks), tools: [noop], reward: () => 1, signal });
  checkTrainingOptions({ tasks: 'tasks.jsonl', agent: () => '', isModelError: () => false });
  checkTrainingOptions({ config: 'run.yaml', plugins: ['./a.ts'], model: undefined });
  checkLoadOptions({ tools: { weather: {} }, environment: 'question' });
});

test('a missing agent is refused, and so is a model without tasks', async () => {
  for (const opened of [evaluateAgent('runs/none'), loadAgent('runs/none')])
    expect(await rejectionOf(opened)).toMatchObject({
      code: 'CHECKPOINT_INVALID',
      message: expect.stringMatching(/there is no .*none\. Give a run folder/),
    });
  expect(await rejectionOf(evaluateAgent('model/starter'))).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/evaluateAgent tasks: is missing/),
  });
});

test('a tool without execute is refused where it is defined', () => {
  const execute = undefined as unknown as () => string;
  expect(
    thrownBy(() => defineTool({ name: 'x', description: 'y', inputSchema, execute })),
  ).toMatchObject({
    code: 'PLUGIN_LOAD_FAILED',
    message: expect.stringMatching(/Tool "x" has no execute/),
  });
});
