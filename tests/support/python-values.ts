import { pythonRepr, type PythonValue } from '#agent_rl/core/python/python-value.ts';
import * as fc from './properties.ts';

type Values = fc.Arbitrary<PythonValue>;

const floatOf = (value: number): PythonValue => ({ $float: floatText(value) });

const floatText = (value: number): string => {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Number.isInteger(value)
    ? `${Object.is(value, -0) ? '-0' : BigInt(value)}.0`
    : String(value);
};

const scalars: Values = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map((value) => ({ $int: String(value) })),
  fc.double().map(floatOf),
  fc.tuple(fc.double({ noNaN: true }), fc.double({ noNaN: true })).map(([re, im]) => ({
    $complex: [floatText(re), floatText(im)],
  })),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary' }).map((text) => ({ $bytes: Buffer.from(text).toString('base64') })),
  fc
    .string({ unit: 'binary' })
    .map((text) => ({ $bytearray: Buffer.from(text).toString('base64') })),
);

/** Few values, so that two of them are often equal. */
const fewScalars: Values = fc.oneof(
  fc.constantFrom<PythonValue>(null, true, false, 0, 1, 2, '', 'a', '1', { $int: '01' }),
  fc.constantFrom('1.0', '-0.0', '0.5', 'nan', 'inf').map((text) => ({ $float: text })),
  fc.constantFrom('0.0', '2.0').map((imaginary) => ({ $complex: ['1.0', imaginary] as const })),
  fc.constantFrom({ $bytes: 'YQ==' }, { $bytearray: 'YQ==' }),
);

/** A float as an integer's digits where it is one: 1 == 1.0. */
function digitsOf(text: string): string {
  const number = Number(text);
  if (Number.isNaN(number)) return 'nan';
  return Number.isInteger(number) ? String(BigInt(number)) : String(number);
}

/** What hashable values have in common that are equal in Python, such as 1, True, 1.0 and 1+0j. */
function keyOf(value: PythonValue): string {
  if (typeof value === 'boolean' || typeof value === 'number') return digitsOf(String(+value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const [[tag, held] = []] = Object.entries(value);
  const members = (): string[] => (held as readonly PythonValue[]).map(keyOf);
  switch (String(tag)) {
    case '$int':
      return String(BigInt(held as string));
    case '$float':
      return digitsOf(held as string);
    case '$complex': {
      const [re = '', im = ''] = (held as readonly string[]).map(digitsOf);
      return im === '0' ? re : `${re} + ${im}j`;
    }
    case '$tuple':
      return `(${members().join()})`;
    case '$frozenset':
      return `{${members().toSorted().join()}}`;
    default:
      return pythonRepr(value);
  }
}

/** Members of sets and keys must be hashable and distinct. */
const distinct = (items: readonly PythonValue[]): readonly PythonValue[] => [
  ...new Map(items.map((item) => [keyOf(item), item])).values(),
];

function valuesOver(leaves: Values): Values {
  const { value } = fc.letrec<{ value: PythonValue; hashable: PythonValue }>((tie) => ({
    hashable: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      leaves.filter((leaf) => !isBytearray(leaf)),
      fc.array(tie('hashable'), { maxLength: 3 }).map((items) => ({ $tuple: items })),
      fc.array(tie('hashable'), { maxLength: 3 }).map((items) => ({ $frozenset: distinct(items) })),
    ),
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      leaves,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(tie('value'), { maxLength: 4 }).map((items) => ({ $tuple: items })),
      fc.array(tie('hashable'), { maxLength: 4 }).map((items) => ({ $set: distinct(items) })),
      fc.array(fc.tuple(tie('hashable'), tie('value')), { maxLength: 4 }).map((pairs) => ({
        $dict: [...new Map(pairs.map((pair) => [keyOf(pair[0]), pair])).values()],
      })),
    ),
  }));
  return value;
}

const isBytearray = (value: PythonValue): boolean =>
  typeof value === 'object' && value !== null && '$bytearray' in value;

/** Any plain Python value, type-tagged. */
export const pythonValues: Values = valuesOver(scalars);

/** Plain Python values out of few parts. */
export const fewPythonValues: Values = valuesOver(fewScalars);
