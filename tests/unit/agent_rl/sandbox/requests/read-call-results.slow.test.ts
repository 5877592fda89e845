import { describe, expect, jest, test } from '@jest/globals';

import { readHarness } from '#agent_rl/sandbox/harness/read-harness.ts';
import { readCallResults, valueBounds } from '#agent_rl/sandbox/requests/read-call-results.ts';

test('Results that the harness wrote are read', () => {
  const problem = 'ZeroDivisionError: division by zero';
  const results = [
    { ok: true, value: { $tuple: [1, 'a'] } },
    { ok: false, problem },
  ];
  expect(readCallResults(JSON.stringify(results))).toEqual(results);
});

const long = `{"a":[${'0,'.repeat(valueBounds.pieces)}0]}`;

test.each(['[x]', '[1]', '[{"ok": false}]', '[{"ok":true,"value":{"$no":1}}]', '"[', '["\\', long])(
  'Results that a program may have written are refused (case %#)',
  (text) => {
    expect(readCallResults(text)).toBeUndefined();
  },
);

const returned = (...values: string[]): string =>
  `[${values.map((value) => `{"ok":true,"value":${value}}`).join(',')}]`;

const listOf = (member: string, count: number): string =>
  `[${Array<string>(Math.floor(count)).fill(member).join()}]`;

describe('The reader of results', () => {
  const members = valueBounds.pieces / 2 - 1;
  const longest = `"${'x'.repeat(valueBounds.chars - 2)}"`;

  test('has the same bounds as the harness', () => {
    const values = new Map(readHarness()).get('values');
    expect(values).toContain(`\nMOST_PIECES = ${valueBounds.pieces / 1000}_000\n`);
    expect(values).toContain(`\nMOST_CHARS = ${valueBounds.chars / 1024 / 1024} * 1024 * 1024\n`);
  });

  test.each([
    ['numbers', listOf('0', members)],
    ['complex numbers', listOf('{"$complex":["1.0","2.0"]}', valueBounds.chars / 27)],
    ['empty tuples', listOf('{"$tuple":[]}', valueBounds.pieces / 3 - 1)],
    ['dictionaries', `{"$dict":${listOf('[0,{"$float":"1.0"}]', valueBounds.pieces / 5 - 1)}}`],
    ['one text', longest],
    ['a text of brackets and commas', `"${'[{,\\"'.repeat(600_000)}"`],
  ])('takes as many %s as the harness allows, in each of several results', (_name, value) => {
    expect(readCallResults(returned(value, value))).toHaveLength(2);
  });

  test.each([
    ['numbers', listOf('0', 2 * valueBounds.pieces)],
    ['dictionaries', listOf('{}', 2 * valueBounds.pieces)],
    ['nested lists without a comma', listOf('['.repeat(9) + ']'.repeat(9), 100_000)],
    ['digits', `{"$int":"${'9'.repeat(valueBounds.chars + 100)}"}`],
    ['characters', `"${'x'.repeat(valueBounds.chars + 100)}"`],
    ['spaces', `${' '.repeat(valueBounds.chars + 100)}0`],
  ])('refuses more %s without parsing them', (_name, value) => {
    const parse = jest.spyOn(JSON, 'parse');
    try {
      expect(readCallResults(returned('0', value, '0'))).toBeUndefined();
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  test('refuses a value that is nested too deeply to be checked', () => {
    expect(readCallResults(returned('['.repeat(100_000) + ']'.repeat(100_000)))).toBeUndefined();
  });
});
