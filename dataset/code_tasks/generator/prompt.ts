import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { pythonRepr } from '../../../agent_rl/core/python/python-value.ts';

import { type Scalar, printed } from './atom.ts';
import { inputLine } from './atoms/sources.ts';
import type { Case } from './cases.ts';
import { type TaskShape, fill } from './program.ts';

/** Ways to put a list of things to do in a sentence or more. */
const joins: readonly ((clauses: readonly string[], last: string) => string)[] = [
  (clauses, last) => `${capital(clauses.join(', then '))}, and ${last}.`,
  (clauses, last) => `First ${clauses.join(', next ')}. Finally ${last}.`,
  (clauses, last) => `${[...clauses, last].map(capital).join('. ')}.`,
];

/** The task in English, with its public example. */
export function writePrompt(shape: TaskShape, example: Case, rng: KeyedRng): string {
  const { family, mode, parameters } = shape;
  const show = mode === 'stdin' ? 'print' : 'return';
  const it = family.source.kind === 'pair' ? 'the result' : 'each number';
  const clauses = family.steps.map(({ atom }, i) =>
    fill(rng.pick(atom.phrases), quoted(parameters[i]))
      .replaceAll('{show}', show)
      .replaceAll('{it}', it),
  );
  if (family.source.kind === 'pair') clauses.push(`${show} what you get`);
  const last = clauses.pop() ?? '';
  const intro = rng.pick(family.source.phrases[mode]);
  return `${intro} ${rng.pick(joins)(clauses, last)} Example: ${exampleText(shape, example)}`;
}

function exampleText({ mode }: TaskShape, { args, expected }: Case): string {
  if (mode === 'calls')
    return `\`f(${args.map(pythonRepr).join(', ')}) == ${pythonRepr(expected)}\`.`;
  return `input \`${inputLine(args)}\` gives \`${printed(expected)}\`.`;
}

/** A parameter as prompts and plans show it: letters in quotes, as in a program. */
export const quoted = (k: Scalar | undefined): Scalar | undefined =>
  typeof k === 'string' ? `'${k}'` : k;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A prompt without what does not make it another task: case and spacing. */
export const normalisePrompt = (prompt: string): string =>
  prompt.toLowerCase().replaceAll(/\s+/g, ' ').trim();
