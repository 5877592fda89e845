import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { z } from 'zod';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { defineTool, type ToolPlugin } from '#agent_rl/core/plugins/define-tool.ts';
import { type ToolContext, tools } from '#agent_rl/core/plugins/tool.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const face = { name: 'add', description: 'Adds two numbers.' };
const { signal } = new AbortController();
const context: ToolContext = {
  signal,
  inputs: { hidden: 1 },
  idempotencyKey: 'call',
  random: new KeyedRng(1),
};
const call = async (plugin: ToolPlugin, args: object) => new plugin().call(args, context);
/** The result of a tool without parameters that executes this. */
const giving = (execute: (input: unknown, called: ToolContext) => unknown) =>
  call(defineTool({ ...face, inputSchema: { type: 'object' }, execute }), {});
const properties = { a: { type: 'number' }, b: { type: 'number' } };
const numbers = { type: 'object', properties, required: ['a', 'b'] };

describe('The schema of a defined tool', () => {
  test.each([
    ['zod', z.object({ a: z.number(), b: z.number() })],
    ['TypeBox', Type.Object({ a: Type.Number(), b: Type.Number() })],
    ['JSON Schema', numbers],
  ])('may be of %s', async (_, inputSchema) => {
    const add = defineTool({
      ...face,
      inputSchema,
      execute: (input) => {
        const { a, b } = input as { a: number; b: number };
        return a + b;
      },
    });
    expect(tools.specOf(add)?.parameters).toMatchObject(numbers);
    expect(await call(add, { a: 17, b: 25 })).toEqual({ content: '42', data: 42 });
  });

  test('fills in defaults, and shows its problems to the model', async () => {
    const inputSchema = z.object({
      to: z.number().default(7),
      word: z.string().refine((word) => word !== 'no', 'must not be no'),
    });
    const tool = defineTool({ ...face, inputSchema, execute: ({ to, word }) => `${word} ${to}` });
    expect(await call(tool, { word: 'up' })).toEqual({ content: 'up 7' });
    const problem = { content: 'Error: word: must not be no', isError: true };
    expect(await call(tool, { word: 'no' })).toEqual(problem);
  });

  test('is refused without a JSON Schema, or if it is invalid', () => {
    const standard = { version: 1, vendor: 'zod', validate: () => ({ value: 1 }) };
    const old = { '~standard': standard };
    const refusal = (inputSchema: never) =>
      thrownBy(() => defineTool({ ...face, inputSchema, execute: () => 1 })).message;
    expect(refusal(old as never)).toMatch(
      /^Tool "add": the schema of zod has no JSON Schema .*zod 4\.2 or later/,
    );
    expect(refusal('text' as never)).toMatch(/inputSchema is "text", which is neither/);
  });
});

describe('The result of execute', () => {
  const looksLike = { content: 'a', id: 1 };
  test.each([
    ['a text', 'hello', { content: 'hello' }],
    ['a promise', Promise.resolve('later'), { content: 'later' }],
    ['a value', { sum: 1 }, { content: '{"sum":1}', data: { sum: 1 } }],
    ['a result', { content: 'none', isError: true }, { content: 'none', isError: true }],
    ['an object like one', looksLike, { content: '{"content":"a","id":1}', data: looksLike }],
    ['nothing', undefined, { content: '', data: undefined }],
    ['NaN', Number.NaN, { content: 'NaN', data: Number.NaN }],
  ])('%s', async (_, output, expected) => {
    expect(await giving(() => output)).toEqual(expected);
  });

  test('is the last value of an async iterable', async () => {
    async function* steps() {
      yield 'half';
      yield 'whole';
    }
    expect(await giving(steps)).toEqual({ content: 'whole' });
  });

  test('leaves exceptions to the tool runner', async () => {
    const broken = () => {
      throw new Error('broken');
    };
    await expect(giving(broken)).rejects.toThrow('broken');
  });

  test('execute receives the context of the call', async () => {
    expect(await giving((_, { inputs }) => inputs)).toMatchObject({ content: '{"hidden":1}' });
  });
});
