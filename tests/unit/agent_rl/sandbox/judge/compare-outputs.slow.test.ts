import { describe, expect, test } from '@jest/globals';

import { compareOutputs } from '#agent_rl/sandbox/judge/compare-outputs.ts';
import { assert, property, string } from '#tests/support/properties.ts';

const modes = ['exact', 'whitespace', 'float', 'unordered'] as const;

describe('compareOutputs', () => {
  test.each([
    ['exact', 'a b\n', 'a b', true],
    ['exact', 'a b\r\n\n', 'a b\n', true],
    ['exact', 'a  b', 'a b', false],
    ['exact', 'a b ', 'a b', false],
    ['exact', '\na', 'a', false],
    ['whitespace', ' a\n b ', 'a b', true],
    ['whitespace', 'ab', 'a b', false],
    ['float', 'x 0.3333333333', 'x 0.33333333', true],
    ['float', '0x1', '1', false],
    ['float', 'nan', 'nan', true],
    ['float', '1000001', '1000000', false],
    ['float', '+07', '7', true],
    ['float', '1000000500000000.0', '1000000000000000', false],
    ['float', '1e-10', '0', false],
    ['float', '1.0000000000000000000001', '1', false],
    ['float', '9007199254740993.0', '9007199254740992', false],
    ['float', '+30E-1', '3', true],
    ['float', '00300e0000', '3e2', true],
    ['float', '3e2', '300', true],
    ['float', '-0.0', '0', true],
    ['float', '1000000500000000', '1000000000000000.0', true],
    ['float', '1e-10', '0.0', true],
    ['float', '0', '1e-9', false],
    ['float', '0.0', '1e-300', false],
    ['float', '2e-10', '1e-10', false],
    ['float', '1.0000001e-10', '1e-10', true],
    ['float', `1e${'9'.repeat(400)}`, '1', false],
    ['float', '1e999', '5', false],
    ['float', '1e999', '2e999', true],
    ['unordered', 'b\na\n', 'a\nb', true],
    ['unordered', 'a\na\nb', 'a\nb\nb', false],
    ['unordered', 'b a', 'a b', false],
  ] as const)('%s: %j against %j is %s', (mode, actual, expected, same) => {
    expect(compareOutputs(actual, expected, mode)).toBe(same);
  });

  test.each(modes)('%s: holds for any text and itself, and not for one more word', (mode) => {
    assert(
      property(string({ unit: 'binary' }), (text) => {
        expect(compareOutputs(text, text, mode)).toBe(true);
        expect(compareOutputs(`${text}\nx`, text, mode)).toBe(false);
      }),
    );
  });

  test.each(modes)('%s: takes time in proportion to the text', (mode) => {
    // Each would take minutes if a pattern backtracked.
    for (const text of ['\n', ' ', '1', '0', '\r\n', '1.', '1\n']) {
      expect(compareOutputs(`${text.repeat(200_000)}x`, '5', mode)).toBe(false);
      expect(compareOutputs(`1${text.repeat(200_000)}1`, '5', mode)).toBe(false);
    }
  });
});
