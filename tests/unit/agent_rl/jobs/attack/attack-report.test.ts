import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { argumentsWith } from '#agent_rl/jobs/attack/arguments-with.ts';
import { type Attempt, reportOf, rewardIn } from '#agent_rl/jobs/attack/attack-report.ts';
import { played } from '#tests/support/rollouts.ts';

const attack = { name: 'a', description: 'd', texts: () => [], places: [] };
const wrong = { place: 'answer', text: 'x', outcome: 'wrong-answer', success: false } as const;
const attempt = (taskId: string, some: Partial<Attempt> = {}): Attempt => {
  return { taskId, ...wrong, reward: 0, problem: undefined, ...some };
};
const whys = (attempts: readonly Attempt[], honest: Record<string, number>, mayBeRight = false) =>
  reportOf({ ...attack, mayBeRight }, attempts, new Map(Object.entries(honest))).findings.map(
    ({ taskId, why }) => `${taskId} ${why}`,
  );

describe('The report on attacks', () => {
  test('finds an attempt that earns more, or loses less, than an honest failure on its task', () => {
    expect(whys([attempt('t', { reward: 0.1 })], { t: 0 })).toEqual(['t earns more']);
    expect(whys([attempt('t', { reward: -0.1 })], { t: -0.2 })).toEqual(['t earns more']);
    expect(whys([attempt('t', { reward: -0.2 })], { t: -0.2 })).toEqual([]);
    expect(whys([attempt('t', { reward: 0.1 }), attempt('u')], { t: 0.2, u: 0 })).toEqual([]);
  });

  test('finds an attempt that is solved without a reward, or has none because the system failed', () => {
    expect(whys([attempt('t', { success: true })], { t: 0 })).toEqual(['t counts as solved']);
    const left = attempt('t', { reward: undefined, outcome: 'infrastructure-error' });
    expect(whys([left], { t: 0 })).toEqual(['t leaves its group']);
  });
});

test('finds a text that is right on more than a quarter of the tasks', () => {
  const honest = Object.fromEntries(Array.from('abcdefgh', (id) => [id, 0]));
  const right = (...ids: string[]) => ids.map((id) => attempt(id, { reward: 1 }));
  expect(whys(right('a', 'b'), honest, true)).toEqual([]);
  expect(whys(right('a', 'b', 'c'), honest, true)).toHaveLength(3);
  // By text and place, not all together.
  const others = ['y', 'z'].map((text) => attempt('c', { reward: 1, text }));
  expect(whys([...right('a', 'b'), ...others], honest, true)).toEqual([]);
});

test('compares the rewards that training uses', () => {
  const outcomes = { 'grader-error': 'penalise', 'infrastructure-error': 'retry' };
  const rules = { outcomes, failures: { penalty: -2 } } as unknown as Parameters<
    typeof rewardIn
  >[1];
  expect(rewardIn(played({ outcome: 'grader-error' }), rules)).toBe(-2);
  expect(rewardIn(played({ outcome: 'infrastructure-error' }), rules)).toBeUndefined();
  expect(rewardIn(played({ reward: 1 }), rules)).toBe(1);
});

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
  const parts = [{ text: 'abc' }];
  const expected = { code: 'abc', note: 'ab', count: 3, mode: 'fast', parts };
  expect(argumentsWith(schema, 'abc')).toEqual(expected);
});

test.each(
  builtinPlugins()
    .tools.entries()
    .map(({ spec }) => [spec.name, spec.parameters] as const),
)('the arguments fit the schema of the built-in tool %s', (_, parameters) => {
  const check = new Ajv({ strict: false }).compile(parameters);
  expect(check(argumentsWith(parameters, 'some text'))).toBe(true);
});
