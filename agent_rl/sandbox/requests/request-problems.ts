import { argumentsProblem } from '../../core/python/python-arguments.ts';
import { type Fields, isPlainObject, seen } from '../../core/python/seen-value.ts';

/** Why a request cannot be run; `undefined` where nothing is wrong with it. */
export type Problem = string | undefined;

/** What is wrong with an object that must have no other fields than these. */
export function fieldsProblem(name: string, value: unknown, known: readonly string[]): Problem {
  if (!isPlainObject(value)) return `${name} must be an object, got ${seen(value)}`;
  const extra = Object.keys(value).find((key) => !known.includes(key));
  if (extra === undefined) return undefined;
  return `${name} has the field ${seen(extra)}, which is not known; known are ${known.join(', ')}`;
}

function textProblem(name: string, value: unknown, most: number): Problem {
  if (typeof value !== 'string') return `${name} must be a string, got ${seen(value)}`;
  if (value.length <= most) return undefined;
  return `${name} has ${value.length} characters, at most ${most} are allowed`;
}

function textsProblem(name: string, value: unknown): Problem {
  if (!Array.isArray(value)) return `${name} must be a list of strings, got ${seen(value)}`;
  // A hole in the list is not a string either, and only iteration meets it.
  for (const [i, item] of value.entries()) {
    if (typeof item !== 'string') {
      return `${name} must be a list of strings, got ${seen(item)} at ${i}`;
    }
  }
  return undefined;
}

const mebibyte = 1024 * 1024;
const mostCodeChars = mebibyte;
const mostInputChars = 16 * mebibyte;
const mostTestChars = 4 * mebibyte;

export function programProblem({ code, stdin = '' }: { code: unknown; stdin?: unknown }): Problem {
  return textProblem('code', code, mostCodeChars) ?? textProblem('stdin', stdin, mostInputChars);
}

export function callsProblem(request: { code: unknown; entry: unknown; args: unknown }): Problem {
  const { code, entry, args } = request;
  return (
    programProblem({ code }) ??
    textProblem('entry', entry, mostCodeChars) ??
    argumentsProblem(args) ??
    textProblem('args as JSON', JSON.stringify(args), mostInputChars)
  );
}

const testFields = ['setup', 'statements', 'entry', 'names', 'classes'] as const;

export function testsProblem(tests: unknown): Problem {
  const problem = fieldsProblem('tests', tests, testFields);
  if (problem !== undefined) return problem;
  const { setup = '', statements, entry = '', names = [], classes = [] } = tests as Fields;
  return (
    textsProblem('tests.statements', statements) ??
    textsProblem('tests.names', names) ??
    textsProblem('tests.classes', classes) ??
    textProblem('tests.setup', setup, mostTestChars) ??
    textProblem('tests.entry', entry, mostTestChars) ??
    textProblem('tests as JSON', JSON.stringify(tests), mostTestChars)
  );
}
