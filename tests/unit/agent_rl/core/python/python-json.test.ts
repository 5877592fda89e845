import { describe, expect, test } from '@jest/globals';

import {
  isMark,
  marked,
  pythonJson,
  readMarked,
  unmarked,
  withoutMarks,
} from '#agent_rl/core/python/python-json.ts';
import * as fc from '#tests/support/properties.ts';

/** What `json.dumps(json.loads(text))` of Python 3.11 prints, as `text → printed`. */
const fromPython = [
  ['1.0 → 1.0', '1 → 1', '-0 → 0', '-0.0 → -0.0', '1e-7 → 1e-07', '0.00001 → 1e-05'],
  ['0.0001 → 0.0001', '1E5 → 100000.0', '1e15 → 1000000000000000.0', '1e16 → 1e+16'],
  ['1.5e300 → 1.5e+300', '12345678901234567890 → 12345678901234567890', '1e21 → 1e+21'],
  ['123456789012345678901.0 → 1.2345678901234568e+20', '-2.50 → -2.5', '5e-324 → 5e-324'],
];

describe('JSON as Python prints it', () => {
  test.each(fromPython.flat())('prints %s', (pair) => {
    const [text = '', printed = ''] = pair.split(' → ');
    const read = readMarked(`{"a": [${text}, "${text}"]}`) as object;
    expect(unmarked(JSON.stringify(read))).toBe(`{"a":[${printed},"${text}"]}`);
    const { value, written } = withoutMarks(read);
    expect(value).toEqual({ a: [Number(text), text] });
    expect(pythonJson(value, written)).toBe(`{"a": [${printed}, "${text}"]}`);
  });

  test('keeps the text only of numbers that JavaScript would change', () => {
    const kept = (text: string) => withoutMarks(readMarked(text) as object).written;
    expect(kept('{"a": 1.0}')).toBe('{"a":1.0}');
    expect(kept('{"a": 12345678901234567890}')).toBe('{"a":12345678901234567890}');
    for (const text of ['{"a": 1}', '{"a": 0.5}', '{"a": 1e-07}', '{"a": "1.0 \\" 1.0"}'])
      expect(kept(text)).toBeUndefined();
  });

  test.each([
    '{"z": 1, "10": 2, "2": 3}',
    '{"a": {"b": [{"1": "x", "0": {"b": 1, "7": 2}}]}}',
    '{"b": 1.0, "4294967294": "\\" 1:", "a": ":", "1.5": 0}',
    '{"b": {}, "\\u0031": "10"}',
  ])('keeps the order of the keys of %s', (text) => {
    const { value, written } = withoutMarks(readMarked(text) as object);
    expect(value).toEqual(JSON.parse(text));
    expect(pythonJson(value, written)).toBe(text.replace('\\u0031', '1'));
    const read = marked(value, written);
    expect(unmarked(JSON.stringify(read))).toBe(
      pythonJson(value, written).replaceAll(/(?<=[,:]) /g, ''),
    );
    expect(unmarked(Object.keys(read).join())).toBe(
      text.startsWith('{"z"') ? 'z,10,2' : Object.keys(read).map(unmarked).join(),
    );
  });

  test('keeps no text if integer keys come first in ascending order', () => {
    const read = readMarked('{"2": 1, "10": 2, "z": 3}') as object;
    expect(withoutMarks(read)).toEqual({ value: { '2': 1, '10': 2, z: 3 } });
  });

  const privates = ['\uE0F4\n5\uE0F5', '\uE0F4\t5\uE0F5', '\uE0F4', '\uF8FF\n1.0'];
  test.each(privates)('private-use characters are text: %j', (text) => {
    const value = { [text]: text, n: 1 };
    for (const json of [
      JSON.stringify(value),
      `{${JSON.stringify(text)}: "${text.replace(/\s/, (c) => JSON.stringify(c).slice(1, -1))}", "n": 1}`,
    ]) {
      expect(withoutMarks(readMarked(json) as object)).toEqual({ value });
      expect(JSON.parse(pythonJson(value))).toEqual(value);
    }
    expect(unmarked(text)).toBe(text);
    expect(isMark(text)).toBe(false);
  });

  test('restores a mark that was printed as JSON or as it is', () => {
    const read = marked({ a: 1 }, '{"a":1.0}');
    expect(isMark(read['a'])).toBe(true);
    expect(unmarked(JSON.stringify(read))).toBe('{"a":1.0}');
    expect(unmarked(`"${String(read['a'])}"`)).toBe('"1.0"');
  });

  test('reads any JSON like JavaScript, and prints JSON of the same value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const json = JSON.stringify(value);
        const plain: unknown = JSON.parse(json);
        expect(withoutMarks(readMarked(json) as object)).toEqual({ value: plain });
        expect(JSON.parse(pythonJson(value))).toEqual(plain);
      }),
    );
  });

  test('accepts 500 levels of nesting, and refuses more', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}"]"${']'.repeat(depth)}`;
    expect(JSON.stringify(readMarked(nested(500)))).toBe(nested(500));
    expect(() => readMarked(nested(501))).toThrow('nested more than 500 levels');
    expect(() => readMarked(nested(200_000))).toThrow(SyntaxError);
  });

  test.each(['1e400', '-1e400', '9'.repeat(309)])('%s, an infinite number, is refused', (n) => {
    expect(() => readMarked(`{"a": ${n}}`)).toThrow('it has a number above 1.8e308');
  });

  test('refuses invalid JSON', () => {
    for (const text of ['{"a": 1.0', '1.0.0', '"1.0', '[01.0]', ''])
      expect(() => readMarked(text)).toThrow(SyntaxError);
  });
});
