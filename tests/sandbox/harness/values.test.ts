import { describe, expect, test } from '@jest/globals';

import { pythonRepr, pythonValueProblem } from '#agent_rl/core/python/python-value.ts';
import type { PythonValue } from '#agent_rl/core/python/python-value.ts';
import { compareValues } from '#agent_rl/sandbox/judge/compare-values.ts';
import { hasPython, withHarness } from '#tests/support/harness.ts';
import { array, assert, property } from '#tests/support/properties.ts';
import { pythonValues } from '#tests/support/python-values.ts';

const back = `
from harness.values import decode, encode
print(json.dumps([json.loads(encode(decode(value))) for value in given]))`;

/** What `encode` makes of the Python value that an expression gives, or the error. */
function encoded(setup: string, expression = 'value'): unknown {
  return withHarness(`
from harness.values import encode
${setup}
try: print(json.dumps({'value': json.loads(encode(${expression}))}))
except ValueError as error: print(json.dumps({'error': str(error)}))`);
}

(hasPython ? describe : describe.skip)('The harness (skipped without python3)', () => {
  test('sends values to Python and back unchanged', () => {
    assert(
      property(array(pythonValues, { minLength: 40, maxLength: 40 }), (values) => {
        const returned = withHarness(back, values) as PythonValue[];
        for (const [i, value] of values.entries()) {
          expect(pythonValueProblem(returned[i])).toBeUndefined();
          expect([value, compareValues(returned[i], value, 'exact')]).toEqual([value, true]);
        }
      }),
      { numRuns: 8 },
    );
  });

  test('decodes values to the Python objects they stand for', () => {
    const values: PythonValue[] = [
      [1, { $float: '-0.0' }, { $tuple: ['a'] }],
      { $dict: [[{ $frozenset: [] }, { $bytes: 'AP8=' }]] },
      { $complex: ['1.5', '-2.0'] },
      { $bytearray: 'eg==' },
    ];
    const code =
      'from harness.values import decode\nprint(json.dumps([repr(decode(v)) for v in given]))';
    const [list, dict] = ["[1, -0.0, ('a',)]", "{frozenset(): b'\\x00\\xff'}"];
    expect(withHarness(code, values)).toEqual([list, dict, '(1.5-2j)', "bytearray(b'z')"]);
    expect(pythonRepr(values[0] ?? null)).toBe(list);
  });

  const lying = `
five = lambda s, *a: 5
iter5 = lambda s: iter([5])
pairs = lambda s: [("a", 5)]
`;
  const a = (base: string, lies: string, made: string): string =>
    `${lying}class A(${base}):\n    ${lies}\nvalue = A(${made})`;

  const bytesOfZ = { $bytes: 'eg==' };
  const dictOf = (key: string, value: number): PythonValue => ({ $dict: [[key, value]] });
  const defaulting = 'import collections\nvalue = collections.defaultdict(lambda: 5)\nvalue["c"]';
  const named = 'import collections\nvalue = collections.namedtuple("P", "x y")(1, 2)';

  test.each<[string, string, PythonValue]>([
    ['int', a('int', '__repr__ = __str__ = __index__ = __int__ = lambda s: 5', '3'), 3],
    ['float', a('float', '__repr__ = __str__ = lambda s: "5.0"', '0.5'), { $float: '0.5' }],
    ['str', a('str', '__repr__ = __str__ = __getitem__ = encode = lambda s, *a: "5"', '"x"'), 'x'],
    ['bytes', a('bytes', '__bytes__ = __getitem__ = lambda s, *a: b"5"', 'b"z"'), bytesOfZ],
    ['complex', a('complex', 'real = imag = 5.0', '1, 2'), { $complex: ['1.0', '2.0'] }],
    ['list', a('list', '__iter__, __len__, __getitem__ = iter5, five, five', '[1, 2]'), [1, 2]],
    ['tuple', a('tuple', '__iter__ = lambda s: iter((5,))', '(1, 2)'), { $tuple: [1, 2] }],
    ['set', a('set', '__iter__ = lambda s: iter({5})', '{1}'), { $set: [1] }],
    ['dict', a('dict', 'items, __iter__, __getitem__ = pairs, iter5, five', 'b=1'), dictOf('b', 1)],
    ['dict with a default', defaulting, dictOf('c', 5)],
    ['named tuple', named, { $tuple: [1, 2] }],
    ['whole enum', 'import enum\nclass E(enum.IntEnum):\n    A = 3\nvalue = E.A', 3],
  ])('encodes a subclass of %s as its bare value, whatever it says', (_name, setup, value) => {
    expect(encoded(setup)).toEqual({ value });
  });

  const notPlain = (type: string): string => `a value of type ${type}, which is not plain data`;
  const falseName =
    'class M(type):\n    @property\n    def __name__(c): return "int"\nclass A(metaclass=M): pass\nvalue = A()';

  test.each([
    ['an object', 'class A: pass\nvalue = A()', notPlain('A')],
    ['a function', 'def value(): pass', notPlain('function')],
    ['a module', 'import math as value', notPlain('module')],
    ['an iterator', 'value = iter([1])', notPlain('list_iterator')],
    ['a type by a false name', falseName, notPlain('A')],
    ['itself', 'value = []\nvalue.append([value])', 'a value that contains itself'],
    ['too deep', 'value = []\nfor _ in range(101): value = [value]', 'a value nested too deeply'],
    ['too long a value', 'value = [0] * 400001', 'a value that is too large'],
    ['too long a text', 'value = "x" * 5000000', 'a value that is too large'],
  ])('refuses to encode %s', (_name, setup, error) => {
    expect(encoded(setup)).toEqual({ error: `returned ${error}` });
  });

  test('does not believe the __class__ of an object', () => {
    const lie = 'class A:\n    @property\n    def __class__(s): return int\nvalue = A()';
    expect(() => encoded(lie)).toThrow(/TypeError: .*__repr__.* requires a 'int' object/);
  });

  test('encodes values nested to the limit and thousands of digits', () => {
    expect(encoded('value = 1\nfor _ in range(100): value = [value]')).toHaveProperty('value');
    expect(encoded('value = 10 ** 9000')).toEqual({ value: { $int: `1${'0'.repeat(9000)}` } });
  });

  test('encodes values correctly in a program that patches its modules', () => {
    const patches = `
import builtins, json.encoder, binascii
builtins.len = builtins.isinstance = builtins.type = lambda *a: 0
json.encoder.encode_basestring_ascii = lambda text: '"5"'
binascii.b2a_base64 = lambda *a, **k: b'5'
json_dumps = json.dumps
text = encode({'a': (1, 2.5, b'z')})
del builtins.type
import os
os.write(1, ('{"value":' + text + '}').encode())
os._exit(0)`;
    expect(withHarness(`from harness.values import encode\n${patches}`)).toEqual({
      value: { $dict: [['a', { $tuple: [1, { $float: '2.5' }, { $bytes: 'eg==' }] }]] },
    });
  });
});
