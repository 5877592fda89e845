import { expect, test } from '@jest/globals';

import { evaluateAgent, loadAgent, trainAgent } from '#agent_rl/index.ts';
import { defineTool } from '#agent_rl/core/plugins/define-tool.ts';
import { checkLoadOptions, checkTrainingOptions } from '#agent_rl/jobs/code/check-options.ts';
import { errorOf, expectRejection, thrownBy } from '#tests/support/thrown.ts';

const tasks = [{ question: 'What is 1 + 1?', answer: '2' }];
const inputSchema = { type: 'object', properties: {} } as const;
const noop = defineTool({ name: 'noop', description: 'Nothing.', inputSchema, execute: () => '' });
const problemsOf = (options: unknown) =>
  (thrownBy(() => checkTrainingOptions(options)) as Error).message.split('\n  ').slice(1);

test('options of a wrong form are refused together, each with what is allowed', () => {
  const tools = [{ name: 'raw', execute: () => '' }];
  const wrong = { tasks: 7, reward: 'f1', rewards: () => 1, iterations: 3, tools };
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
  const agent = () => '';
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
  const signal = AbortSignal.timeout(1);
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
