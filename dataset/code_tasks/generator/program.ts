import { type Atom, type Scalar, type Value, asList, asScalar } from './atom.ts';
import type { Family, Step } from './families.ts';

export type Mode = 'stdin' | 'calls';

/** A family with its parameters: one per step, absent where the atom takes none. */
export interface TaskShape {
  family: Family;
  parameters: readonly (Scalar | undefined)[];
  mode: Mode;
}

/** Which variant each part is written in, the source first; 0 is right, 1 the first of the wrong ones. */
export type Choice = readonly number[];

/** What slips need to know of a source or an atom. */
export interface Part {
  rightShare: number;
  wrong: readonly unknown[];
}

/** The parts of a family in the order of a `Choice`. */
export const partsOf = (family: Family): readonly Part[] => [
  family.source,
  ...family.steps.map((step) => step.atom),
];

export const rightChoice = (family: Family): Choice => partsOf(family).map(() => 0);

/** Every choice but the right one. */
export function wrongChoices(family: Family): Choice[] {
  const all = partsOf(family).reduce<number[][]>(
    (choices, part) =>
      choices.flatMap((choice) =>
        Array.from({ length: part.wrong.length + 1 }, (_, variant) => choice.concat([variant])),
      ),
    [[]],
  );
  return all.filter((choice) => choice.some((variant) => variant !== 0));
}

export const fill = (text: string, k: Scalar | undefined): string =>
  k === undefined ? text : text.replaceAll('{k}', String(k));

function variantAt(atom: Atom, index: number): Atom['right'] {
  const found = index === 0 ? atom.right : atom.wrong[index - 1];
  if (found === undefined) throw new RangeError(`An atom has no variant ${index}.`);
  return found;
}

function sourceAt(family: Family, index: number): Family['source']['right'] {
  const found = index === 0 ? family.source.right : family.source.wrong[index - 1];
  if (found === undefined) throw new RangeError(`A source has no variant ${index}.`);
  return found;
}

/** The program a choice of variants writes. */
export function writeProgram({ family, parameters, mode }: TaskShape, choice: Choice): string {
  const code: Partial<Record<Step['slot'], string>> = {};
  family.steps.forEach((step, i) => {
    const { code: text } = variantAt(step.atom, choice[i + 1] ?? 0);
    code[step.slot] = fill(text, parameters[i]);
  });
  const first = sourceAt(family, choice[0] ?? 0)[mode];
  const [body, result] = family.source.kind === 'pair' ? pairBody(code) : listBody(code);
  const lines = [first, ...body].filter((line) => line !== '');
  if (mode === 'stdin')
    return [...lines, `print(${result.star ? '*' : ''}${result.text})`].join('\n');
  return [definitionLine(family), ...[...lines, `return ${result.text}`].map(indent)].join('\n');
}

/** The line a program of `calls` tasks starts with. */
export const definitionLine = (family: Family): string =>
  family.source.kind === 'pair' ? 'def f(a, b):' : 'def f(a):';

const indent = (line: string): string => `    ${line}`;

interface Result {
  text: string;
  /** Lists are printed by their elements. */
  star: boolean;
}

type Codes = Partial<Record<Step['slot'], string>>;

function pairBody({ pair = '', map = 'x' }: Codes): [string[], Result] {
  return [[`x = ${pair}`], { text: map, star: false }];
}

function listBody({ slice, filter, map, reduce = '{in}' }: Codes): [string[], Result] {
  const list = slice === undefined ? 'a' : slice.replaceAll('{in}', 'a');
  const test = filter === undefined ? '' : ` if ${filter}`;
  const text = reduce.replaceAll('{in}', 'b');
  const star = /^b(\[::-1\])?$/.test(text);
  return [[`b = [${map ?? 'x'} for x in ${list}${test}]`], { text, star }];
}

/**
 * What a choice of variants gives for the arguments.
 *
 * @throws PythonRaises where Python would raise.
 */
export function evaluate(
  { family, parameters }: TaskShape,
  choice: Choice,
  args: readonly Value[],
): Value {
  const list = sourceAt(family, choice[0] ?? 0).run(args);
  return family.steps.reduce<Value>((value, { slot, atom }, i) => {
    // An atom without a parameter never looks at it.
    const k = parameters[i] ?? 0;
    const chosen = variantAt(atom, choice[i + 1] ?? 0);
    if (slot === 'filter') return asList(value).filter((x) => chosen.run(x, k) === true);
    if (slot === 'map' && Array.isArray(value)) return value.map((x) => asScalar(chosen.run(x, k)));
    const result = chosen.run(value, k);
    return Array.isArray(result) ? asList(result) : asScalar(result);
  }, list);
}
