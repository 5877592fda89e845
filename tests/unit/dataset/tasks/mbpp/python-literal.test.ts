import { describe, expect, test } from '@jest/globals';

import { NotALiteral, PythonLiteralReader } from '#dataset/tasks/mbpp/python-literal.ts';
import * as fc from '#tests/support/properties.ts';

const read = (text: string): unknown => new PythonLiteralReader(text).value();

describe('PythonLiteralReader', () => {
  test.each<[string, unknown]>([
    ['None', null],
    ['True', true],
    ['-7', -7],
    ['0x1F', 31],
    ['1_000', 1000],
    ['12345678901234567890', { $int: '12345678901234567890' }],
    ['3.0', { $float: '3.0' }],
    ['1E-5', { $float: '1e-05' }],
    ['1e16', { $float: '1e+16' }],
    ['-.5', { $float: '-0.5' }],
    ["'a\\n\\x41\\''", "a\nA'"],
    [String.raw`r'\d'`, '\\d'],
    ['"a" \'b\'', 'ab'],
    ["b'hi'", { $bytes: 'aGk=' }],
    ['[1, [2], ]', [1, [2]]],
    ['()', { $tuple: [] }],
    ['(1,)', { $tuple: [1] }],
    ['(1)', 1],
    ["(1, 'a')", { $tuple: [1, 'a'] }],
    ['{}', { $dict: [] }],
    [
      "{'a': 1, 2: [3]}",
      {
        $dict: [
          ['a', 1],
          [2, [3]],
        ],
      },
    ],
    ['{1, 2}', { $set: [1, 2] }],
    ['{1, 2, 1}', { $set: [1, 2] }],
    [
      '{"a": 1, "b": 2, "a": 3}',
      {
        $dict: [
          ['a', 3],
          ['b', 2],
        ],
      },
    ],
    ['set()', { $set: [] }],
  ])('reads %s', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  test.each(['x', 'Truey', "'open", '[1', '[1 2]', '1j', 'f(1)', '007x', '{1: 2, 3}', ''])(
    'does not read %s',
    (text) => {
      expect(() => read(text)).toThrow(NotALiteral);
    },
  );

  test('reads back nested lists of whole numbers and text', () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.integer({ min: -99_999, max: 99_999 }),
        fc.stringMatching(/^[a-z ]*$/),
        fc.array(tie('value')),
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        expect(read(JSON.stringify(given))).toEqual(given);
      }),
    );
  });
});
