import { expect, test } from '@jest/globals';
import { z } from 'zod';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { tools } from '#agent_rl/core/plugins/tool.ts';
import { aiSdkTools, type AiSdkTool } from '#agent_rl/jobs/code/ai-sdk-tools.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const { signal } = new AbortController();
const context = { signal, inputs: {}, random: new KeyedRng(1) };

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
