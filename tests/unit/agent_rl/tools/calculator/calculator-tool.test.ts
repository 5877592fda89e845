import { describe, expect, test } from '@jest/globals';

import { CalculatorTool } from '#agent_rl/tools/calculator/calculator-tool.ts';
import { evaluate } from '#agent_rl/tools/calculator/evaluate.ts';
import { describeToolContract } from '#tests/contracts/tool-contract.ts';

describeToolContract('calculator', {
  plugin: CalculatorTool,
  create: () => new CalculatorTool(),
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
    ['simplify("x+x")', 'simplify is not available'],
    ['derivative("x", "x")', 'derivative is not available'],
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
