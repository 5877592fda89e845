import { describe, expect, test } from '@jest/globals';

import { environments } from '#agent_rl/core/plugins/environment.ts';
import type { Turn } from '#agent_rl/core/plugins/environment.ts';
import type { QuestionTask } from '#agent_rl/core/tasks/question-task.ts';
import { callToolbox, toolboxInstruction } from '#agent_rl/core/tasks/toolbox.ts';
import { ToolboxEnv } from '#agent_rl/environments/toolbox/toolbox-env.ts';
import { describeEnvironmentContract } from '#tests/contracts/environment-contract.ts';

const number = { type: ['number', 'string'] };
const parameters = (...names: string[]) => ({
  type: 'object' as const,
  properties: Object.fromEntries(names.map((name) => [name, number])),
});
const price = {
  name: 'dabex',
  description: 'Gives the dodok of kokox.',
  parameters: parameters('kokox'),
  operation: 'look_up_entry',
  paths: { key: ['kokox'] },
  table: { Gekoka: 19 },
};
const minus = {
  name: 'mafex',
  description: 'Subtracts femep from kadap.',
  parameters: parameters('femep', 'kadap'),
  operation: 'subtract_numbers',
  paths: { b: ['femep'], a: ['kadap'] },
};
const put = {
  name: 'lomek',
  description: 'Puts item 2 of lemax into box item 1 of lemax.',
  parameters: parameters('lemax'),
  operation: 'put_in_box',
  paths: { box: ['lemax', '0'], amount: ['lemax', '1'] },
};
const read = {
  name: 'bekek',
  description: 'Says how much is in box fo.mek.',
  parameters: parameters('fo'),
  operation: 'read_box',
  paths: { box: ['fo', 'mek'] },
};
const calls = [
  { name: 'dabex', arguments: { kokox: 'Gekoka' } },
  { name: 'mafex', arguments: { kadap: 19, femep: 7 } },
];
const metadata = { tools: [price, minus, put, read], calls, boxes: { Zibu: 5 } };
const task: QuestionTask = {
  taskId: 't',
  prompt: 'What is the dodok of Gekoka minus 7?',
  answer: '12',
  aliases: [],
  metadata,
};

const make = (changes: object = {}): ToolboxEnv =>
  new ToolboxEnv({ task: { ...task, metadata: { ...metadata, ...changes } } });

const saying = (content: string): Turn => ({
  index: 0,
  message: { role: 'assistant', content },
  calls: [],
});
const calling = (name: string, args: Record<string, unknown>): Turn => {
  const call = { id: 'call_0_0', name, arguments: args };
  return {
    index: 0,
    message: { role: 'assistant', content: '', toolCalls: [call] },
    calls: [{ call, status: 'ok', wallMs: 1, result: { content: '' } }],
  };
};
const rightCalls = calls.map((call) => calling(call.name, call.arguments));

async function played(turns: readonly Turn[], changes: object = {}) {
  const environment = make(changes);
  let isDone = false;
  for (const turn of turns) ({ done: isDone } = await environment.step(turn));
  return environment.finish(isDone ? 'done' : 'turn-limit');
}

const winningTurns = [...rightCalls, saying('The answer is 12.')];
describeEnvironmentContract('ToolboxEnv', { plugin: ToolboxEnv, create: make, winningTurns });

describe('A tool of a toolbox', () => {
  const answered = (name: string, args: unknown, environment = make()) =>
    environment.call(args, { of: name });

  test.each([
    ['dabex', { kokox: 'Gekoka' }, '19'],
    ['mafex', { kadap: 19, femep: 7 }, '12'],
    ['mafex', { kadap: 7, femep: 19 }, '-12'],
  ])('%s answers %j with %s', async (name, args, content) => {
    expect(await answered(name, args)).toEqual({ content });
  });

  test.each([
    ['dabex', { kokox: 'Gek' }],
    ['dabex', { kokox: 'toString' }],
    ['lomek', { lemax: ['Zibo', 3] }],
    ['bekek', { fo: 'Zibu' }],
  ])('%s says that it finds nothing for %j', async (name, args) => {
    const content = `Error: ${name} finds nothing for that.`;
    expect(await answered(name, args)).toEqual({ content, isError: true });
  });

  test('reads what another one of the episode wrote, and of no other episode', async () => {
    const environment = make();
    expect((await answered('lomek', { lemax: ['Zibu', 3] }, environment)).content).toBe('done');
    expect((await answered('bekek', { fo: { mek: 'Zibu' } }, environment)).content).toBe('8');
    expect((await answered('bekek', { fo: { mek: 'Zibu' } })).content).toBe('5');
  });

  test('returns another value if it lies', async () => {
    const environment = make({ tools: [{ ...price, lies: true }] });
    expect((await answered('dabex', { kokox: 'Gekoka' }, environment)).content).toBe('10');
  });

  test('is shown without what it knows', () => {
    expect(make().tools()[0]).toEqual({
      name: 'dabex',
      description: 'Gives the dodok of kokox.',
      parameters: parameters('kokox'),
      onInterrupt: 'repeat',
    });
  });
});

test.each([
  ['add_numbers', { a: 40, b: -2 }, '38'],
  ['multiply_numbers', { a: 12, b: 12 }, '144'],
  ['remainder_of', { a: 23, b: 7 }, '2'],
  ['remainder_of', { a: 23, b: 0 }, 'Error: one finds nothing for that.'],
  ['find_holder', { value: 19 }, 'Gekoka'],
  ['find_holder', { value: 20 }, 'Error: one finds nothing for that.'],
  ['convert_unit', { value: 3 }, '21'],
  ['later_date', { start: '2024-02-27', days: 3 }, '2024-03-01'],
  ['later_date', { start: '2024-13-27', days: 3 }, 'Error: one finds nothing for that.'],
  ['day_of_week', { date: '2026-11-30' }, 'Monday'],
  ['write_backwards', { text: 'velma' }, 'amlev'],
  ['drop_vowels', { text: 'Oravel' }, 'rvl'],
])('the operation %s makes of %j %s', (operation, values, content) => {
  const paths = Object.fromEntries(Object.keys(values).map((role) => [role, [role]]));
  const tool = { ...price, name: 'one', operation, paths, factor: 7 };
  expect(callToolbox(tool, values, new Map()).content).toBe(content);
});

test('a move between boxes takes from one what it gives to the other', () => {
  const paths = { from: ['from'], to: ['to'], amount: ['amount'] };
  const tool = { ...price, name: 'one', operation: 'move_between_boxes', paths };
  const boxes = new Map(Object.entries({ A: 10, B: 1 }));
  expect(callToolbox(tool, { from: 'A', to: 'B', amount: 4 }, boxes).content).toBe('done');
  expect(callToolbox(tool, { from: 'A', to: 'C', amount: 4 }, boxes).isError).toBe(true);
  expect([...boxes]).toEqual([
    ['A', 6],
    ['B', 5],
  ]);
});

describe('An episode with a toolbox', () => {
  test('begins with the instruction and the question', async () => {
    expect(await make().start()).toEqual([
      { role: 'system', content: toolboxInstruction },
      { role: 'user', content: task.prompt },
    ]);
  });

  test.each([
    [true, ['12', 'It is 12.', 'The answer is 12.']],
    [false, ['', '13', '12 or 13', 'The answer is 12, as 19 - 7 = 12.']],
  ])('is solved (%j) by %j', async (success, messages) => {
    for (const said of messages)
      expect(await played([saying(said)])).toMatchObject({ success, reward: success ? 1 : 0 });
  });

  test('counts calls, the right tools and the right arguments, each apart', async () => {
    const metrics = async (...turns: Turn[]) => {
      const { calls: count, toolRight, argumentsRight } = (await played(turns)).metrics ?? {};
      return [count, toolRight, argumentsRight];
    };
    const [first, second] = rightCalls as [Turn, Turn];
    expect(await metrics(first, second)).toEqual([2, 1, 1]);
    expect(await metrics(calling('dabex', { kokox: 'Gek' }), first, second)).toEqual([3, 1, 1]);
    expect(await metrics(first, calling('mafex', { femep: 7, kadap: 19 }))).toEqual([2, 1, 1]);
    expect(await metrics(first, calling('mafex', { femep: 19, kadap: 7 }))).toEqual([2, 1, 0]);
    expect(await metrics(first)).toEqual([1, 0, 0]);
    expect(await metrics(first, second, calling('bekek', {}))).toEqual([3, 0, 1]);
    expect(await metrics()).toEqual([0, 0, 0]);
  });
});

describe('A task with a toolbox', () => {
  const problemOf = (changes: object): string | undefined =>
    environments.specOf(ToolboxEnv)?.taskProblem?.({ ...task, ...changes }, {});

  test('is accepted if its calls give its answer', () => {
    expect(problemOf({})).toBeUndefined();
    const noCalls = { answer: 'no tool', metadata: { ...metadata, calls: [] } };
    expect(problemOf(noCalls)).toBeUndefined();
  });

  test.each([
    [{ metadata: {} }, 'it needs tools, calls and boxes'],
    [{ metadata: { ...metadata, tools: [price] } }, 'its calls give , but its answer is 12.'],
    [{ answer: '13' }, 'its calls give 12, but its answer is 13.'],
  ])('is refused with %j', (changes, problem) => {
    expect(problemOf(changes)).toContain(problem);
  });
});
