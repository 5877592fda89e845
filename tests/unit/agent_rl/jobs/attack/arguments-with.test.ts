import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { argumentsWith } from '#agent_rl/jobs/attack/arguments-with.ts';

test('a text stands wherever one may, and numbers keep their bounds', () => {
  const schema = {
    type: 'object',
    required: ['code', 'count', 'mode', 'parts'],
    properties: {
      code: { type: 'string' },
      note: { type: 'string', maxLength: 2 },
      count: { type: 'integer', minimum: 3 },
      share: { type: 'number', exclusiveMinimum: 0, maximum: 0.5 },
      mode: { enum: ['fast', 'slow'] },
      parts: { type: 'array', items: { type: 'object', properties: { text: { type: 'string' } } } },
      verbose: { type: 'boolean' },
    },
  };
  expect(argumentsWith(schema, 'abc')).toEqual({
    code: 'abc',
    note: 'ab',
    count: 3,
    mode: 'fast',
    parts: [{ text: 'abc' }],
  });
});

test.each(
  builtinPlugins()
    .tools.entries()
    .map(({ spec }) => [spec.name, spec.parameters] as const),
)('the arguments fit the schema of the built-in tool %s', (_, parameters) => {
  const check = new Ajv({ strict: false }).compile(parameters);
  expect(check(argumentsWith(parameters, 'some text'))).toBe(true);
});
