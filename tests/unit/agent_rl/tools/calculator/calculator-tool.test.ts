import { describe, expect, test } from '@jest/globals';

import { CalculatorTool, otherDigits } from '#agent_rl/tools/calculator/calculator-tool.ts';
import { evaluate } from '#agent_rl/tools/calculator/evaluate.ts';
import { describeToolContract } from '#tests/contracts/tool-contract.ts';

describeToolContract('calculator', {
  plugin: CalculatorTool,
  create: () => new CalculatorTool({ settings: {} }),
  goodArguments: { expression: '(3 + 4) * 2' },
  badArguments: { expression: '3 +' },
});

test.each([
  ['(3 + 4) * 2', '14'],
  ['0.1 + 0.2', '0.3'],
  ['2^100', '1.2676506002282e+30'],
  ['12345 * 67890', '838102050'],
  ['sqrt(2)^2', '2'],
  ['5!', '120'],
  ['1/3', '0.33333333333333'],
  // 2^60; 14 digits of it are no right answer.
  ['2^60', '1152921504606846976'],
  ['-987654321 * 987654321', '-975461057789971041'],
  ['99999999999999999999 + 1', '1e+20'],
  ['0 * -1', '0'],
  ['sum([1, 2, 3])', '6'],
])('%s is %s', (expression, value) => {
  expect(evaluate(expression)).toBe(value);
});

describe('The calculator refuses', () => {
  test.each([
    ['import({a: 1})', 'import is not available'],
    ['evaluate("1")', 'evaluate is not available'],
    ['parse("1")', 'parse is not available'],
    ['createUnit("x")', 'createUnit is not available'],
    ['zeros(1000, 1000)', 'at most 10000 elements'],
    ['range(0, 1e9)', 'at most 10000 elements'],
    ['1:1000000000', 'ranges such as 1:10 are not available'],
    ['sin', 'the value is a function'],
    ['process', 'Undefined symbol process'],
    ['"a".constructor', 'No access to'],
  ])('%s', (expression, reason) => {
    expect(() => evaluate(expression)).toThrow(reason);
  });
});

describe("The agent's view of the result", () => {
  const answer = (output: 'shown' | 'blank' | 'lying' | 'unavailable', expression = '6 * 7') =>
    new CalculatorTool({ settings: { output } }).call({ expression });

  test('is the value, nothing, or that the tool does not exist', async () => {
    expect(await answer('shown')).toEqual({ content: '42' });
    expect(await answer('blank')).toEqual({ content: '' });
    const gone = { content: 'Error: calculator is not available.', isError: true };
    expect(await answer('unavailable')).toEqual(gone);
  });

  test('has, with a lying tool, the same length and no digit in its place, the same each time', async () => {
    const { content } = await answer('lying', '111111111 * -3');
    expect(content).toMatch(/^-[1-9]\d{8}$/);
    expect(content.slice(1)).not.toContain('3');
    expect(await answer('lying', '-3 * 111111111')).toEqual({ content });
  });

  test('is the error of the expression also with a lying tool', async () => {
    expect(await answer('lying', '3 +')).toEqual(await answer('shown', '3 +'));
  });

  test.each(['0', '9', '10', '0.25', '3e+20'])('replaces %s by a different number', (text) => {
    expect(otherDigits(text)).not.toBe(text);
    expect(otherDigits(text)).toHaveLength(text.length);
    expect(otherDigits(text)).not.toMatch(/^0\d/);
  });
});
