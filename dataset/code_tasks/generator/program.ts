import { type Scalar, type Value, asList, asScalar } from './atom.ts';
import type { Family, Step } from './families.ts';
import { combinations, type Parameters } from './parameters.ts';

export type Mode = 'stdin' | 'calls';

/** A family with its parameters: one per step, absent where the atom takes none. */
export interface TaskShape {
  family: Family;
  parameters: Parameters;
  mode: Mode;
}

/** In which way each part is written, the source first; 0 is right, 1 the commonest slip. */
export type Choice = readonly number[];

/** The parts of a family in the order of a `Choice`. */
export const partsOf = ({ source, steps }: Family) => [
  { tricky: source.tricky, ways: source.ways.length },
  ...steps.map(({ atom, ways }) => ({ tricky: atom.tricky, ways: ways.length })),
];

export const rightChoice = (family: Family): Choice => partsOf(family).map(() => 0);

/** Every choice but the right one. */
export function wrongChoices(family: Family): Choice[] {
  const ways = partsOf(family).map((part) => Array.from({ length: part.ways }, (_, way) => way));
  return combinations(ways).filter((choice) => choice.some((way) => way !== 0));
}

export const fill = (text: string, k: Scalar | undefined): string =>
  k === undefined ? text : text.replaceAll('{k}', String(k));

function chosen<Way>({ ways }: { ways: readonly Way[] }, choice: Choice, part: number): Way {
  const way = ways[choice[part] ?? 0];
  if (way === undefined) throw new RangeError(`Part ${part} has no way ${choice[part]}.`);
  return way;
}

/** The program that a choice writes. */
export function writeProgram({ family, parameters, mode }: TaskShape, choice: Choice): string {
  const code: Codes = {};
  family.steps.forEach((step, i) => {
    code[step.slot] = fill(chosen(step, choice, i + 1).code, parameters[i]);
  });
  const first = chosen(family.source, choice, 0)[mode];
  const [body, result] = family.source.kind === 'pair' ? pairBody(code) : listBody(code);
  const lines = [first, body].filter((line) => line !== '');
  // Lists are printed by their elements.
  const star = /^b(\[::-1\])?$/.test(result) ? '*' : '';
  if (mode === 'stdin') return [...lines, `print(${star}${result})`].join('\n');
  return [definitionLine(family), ...[...lines, `return ${result}`].map(indent)].join('\n');
}

/** The line a program of `calls` tasks starts with. */
export const definitionLine = (family: Family): string =>
  family.source.kind === 'pair' ? 'def f(a, b):' : 'def f(a):';

const indent = (line: string): string => `    ${line}`;

type Codes = Partial<Record<Step['slot'], string>>;

/** The line that works on the data, and the expression of the result. */
type Body = [line: string, result: string];

const pairBody = ({ pair = '', map = 'x' }: Codes): Body => [`x = ${pair}`, map];

function listBody({ slice = '{in}', filter, map = 'x', reduce = '{in}' }: Codes): Body {
  const list = slice.replaceAll('{in}', 'a');
  const test = filter === undefined ? '' : ` if ${filter}`;
  return [`b = [${map} for x in ${list}${test}]`, reduce.replaceAll('{in}', 'b')];
}

/**
 * What the program of a choice gives for the arguments.
 *
 * @throws PythonRaises where Python would raise.
 */
export function evaluate(
  { family, parameters }: TaskShape,
  choice: Choice,
  args: readonly Value[],
): Value {
  const list = chosen(family.source, choice, 0).run(args);
  return family.steps.reduce<Value>((value, step, i) => {
    // An atom without a parameter never looks at it.
    const k = parameters[i] ?? 0;
    const { run } = chosen(step, choice, i + 1);
    if (step.slot === 'filter') return asList(value).filter((x) => run(x, k) === true);
    if (step.slot === 'map' && Array.isArray(value)) return value.map((x) => asScalar(run(x, k)));
    const result = run(value, k);
    return Array.isArray(result) ? asList(result) : asScalar(result);
  }, list);
}
