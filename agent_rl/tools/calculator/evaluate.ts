import { all, create, type FactoryFunctionMap, type MathNode } from 'mathjs';

/** Digits a result is shown with, unless it is a whole number below `roundedFrom`; the arithmetic has more. */
const shownDigits = 14;
const roundedFrom = '1e20';
/** Most elements of a matrix that an expression may make. */
const mostElements = 10_000;

const math = create(all as FactoryFunctionMap, { number: 'BigNumber', precision: 64 });
// Kept before the names are disabled for expressions.
const evaluateText = math.evaluate.bind(math);
const parse = math.parse.bind(math);
const format = math.format.bind(math);

const disabled = [
  'import',
  'createUnit',
  'evaluate',
  'parse',
  'simplify',
  'derivative',
  'resolve',
  'reviver',
  'parser',
  'compile',
  'config',
];
/** Functions that make a matrix of the size they are given. */
const sized = ['zeros', 'ones', 'identity', 'range'];

const refused = (name: string) => (): never => {
  throw new Error(`the function ${name} is not available`);
};

function elementsOf(value: unknown): number {
  if (math.isBigNumber(value)) return value.toNumber();
  return typeof value === 'number' ? value : 1;
}

const guarded =
  (name: string, make: (...sizes: unknown[]) => unknown) =>
  (...sizes: unknown[]): unknown => {
    const flat = sizes.flatMap((size) =>
      math.isMatrix(size) ? (size.toArray().flat() as unknown[]) : [size],
    );
    const count =
      name === 'range'
        ? Math.abs(elementsOf(flat[1]) - elementsOf(flat[0])) / Math.abs(elementsOf(flat[2] ?? 1))
        : flat.reduce<number>((product, size) => product * Math.max(1, elementsOf(size)), 1);
    if (!(count <= mostElements)) {
      throw new Error(`a matrix may have at most ${mostElements} elements, not ${count}`);
    }
    return make(...sizes);
  };

function rangesOf(node: MathNode): number {
  return node.filter((inner) => inner.type === 'RangeNode').length;
}

math.import(
  {
    ...Object.fromEntries(disabled.map((name) => [name, refused(name)])),
    ...Object.fromEntries(
      sized.map((name) => [
        name,
        guarded(name, math[name as 'zeros'].bind(math) as (...sizes: unknown[]) => unknown),
      ]),
    ),
  },
  { override: true },
);

/**
 * Value of an expression as text, with 64 digits inside.
 *
 * @throws Error for what is not an expression, or uses what is not available.
 */
export function evaluate(expression: string): string {
  // `a:b` makes a matrix without a function that could be guarded.
  if (rangesOf(parse(expression)) > 0) throw new Error('ranges such as 1:10 are not available');
  const value: unknown = evaluateText(expression);
  if (value === undefined) throw new Error('the expression has no value');
  if (typeof value === 'function') throw new Error('the value is a function; call it');
  if (math.isBigNumber(value) && value.isInteger() && value.abs().lessThan(roundedFrom))
    return value.plus(0).toFixed();
  return format(value, { precision: shownDigits, lowerExp: -9, upperExp: 20 });
}
