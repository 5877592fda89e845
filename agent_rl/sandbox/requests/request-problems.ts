import { toUSVString } from 'node:util';

import { argumentsProblem } from '../../core/python/python-arguments.ts';
import { type Fields, isPlainObject, seen } from '../../core/python/seen-value.ts';
import { AgentRlError } from '../../core/errors.ts';
import { limitBounds, type SandboxLimits } from '../../core/services/sandbox.ts';

/** Why a request cannot be run; `undefined` where nothing is wrong with it. */
export type Problem = string | undefined;

/** What is wrong with an object that must have no other fields than these. */
export function fieldsProblem(name: string, value: unknown, known: readonly string[]): Problem {
  if (!isPlainObject(value)) return `${name} must be an object, got ${seen(value)}`;
  const extra = Object.keys(value).find((key) => !known.includes(key));
  if (extra === undefined) return undefined;
  return `${name} has the unknown field ${seen(extra)}; the known fields are ${known.join(', ')}`;
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
      return `${name} must be a list of strings, got ${seen(item)} at index ${i}`;
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

const mostFileChars = 64 * 1024 * 1024;
const mostNameBytes = 255;
/** Less than any system's limit, which holds for the working folder's own path too. */
const mostPathBytes = 1024;

/** Only what no file system could take is refused here; the quota of files is kept where they are written. */
export function filesProblem(files: unknown): Problem {
  if (files === undefined) return undefined;
  if (!isPlainObject(files)) {
    return `files must be an object of contents by path, got ${seen(files)}`;
  }
  for (const [path, content] of Object.entries(files)) {
    const problem = pathProblem(path);
    if (problem !== undefined) return `the path ${seen(path)} in files ${problem}`;
    if (!isBase64(content)) {
      return `the content of ${seen(path)} in files is not base64, got ${seen(content)}`;
    }
  }
  return sharedPathProblem(files) ?? sizeProblem(files);
}

function sizeProblem(files: Fields): Problem {
  const chars = Object.values(files).reduce<number>((sum, text) => sum + String(text).length, 0);
  if (chars <= mostFileChars) return undefined;
  return `files has ${chars} characters of base64, at most ${mostFileChars} are allowed`;
}

function pathProblem(path: string): Problem {
  if (path.startsWith('/')) return 'must be relative to the working folder';
  if (path.includes('\0')) return 'has a NUL character';
  if (toUSVString(path) !== path) return 'has half of a surrogate pair';
  if (Buffer.byteLength(path) > mostPathBytes) return `has more than ${mostPathBytes} bytes`;
  const names = path.split('/');
  if (names.includes('..')) return 'leads out of the working folder';
  if (names.some((name) => name === '' || name === '.')) return 'has an empty part';
  if (names.every((name) => Buffer.byteLength(name) <= mostNameBytes)) return undefined;
  return `has a part of more than ${mostNameBytes} bytes`;
}

function sharedPathProblem(files: Fields): Problem {
  for (const path of Object.keys(files)) {
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
      const folder = path.slice(0, end);
      if (Object.hasOwn(files, folder)) {
        return `the path ${seen(folder)} in files is a file and the folder of ${seen(path)}; it cannot be both`;
      }
    }
  }
  return undefined;
}

const isBase64 = (content: unknown): boolean =>
  typeof content === 'string' && content.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(content);

/** Limits of a program whose request names none. */
export const defaultLimits = { wallS: 10, memoryMiB: 512 } as const;

function rangeProblem(
  name: string,
  value: unknown,
  { minimum, maximum }: { minimum: number; maximum: number },
  unit: string,
): Problem {
  if (typeof value === 'number' && value >= minimum && value <= maximum) return undefined;
  return `${name} is ${seen(value)}; it must be a number from ${minimum} to ${maximum} ${unit}`;
}

export const secondsProblem = (name: string, value: unknown): Problem =>
  rangeProblem(name, value, limitBounds.wallS, 's');

const memoryProblem = (name: string, value: unknown): Problem =>
  rangeProblem(name, value, limitBounds.memoryMiB, 'MiB');

const problemOf: Readonly<Record<keyof SandboxLimits, (name: string, value: unknown) => Problem>> =
  { wallS: secondsProblem, memoryMiB: memoryProblem };
const known = Object.keys(problemOf) as readonly (keyof SandboxLimits)[];

/** What is wrong with the limits of a request; those left out are the backend's. */
export function limitsProblem(limits: unknown): Problem {
  if (limits === undefined) return undefined;
  const problem = fieldsProblem('limits', limits, known);
  if (problem !== undefined) return problem;
  const given = limits as Readonly<Record<string, unknown>>;
  return known
    .filter((name) => name in given)
    .map((name) => problemOf[name](`limits.${name}`, given[name]))
    .find((found) => found !== undefined);
}

export function seedProblem(seed: unknown): Problem {
  if (seed === undefined || Number.isSafeInteger(seed)) return undefined;
  return `seed is ${seen(seed)}; it must be an integer between -2^53 and 2^53`;
}

/** @throws AgentRlError `CONFIG_INVALID` for limits that cannot be kept. */
export const checkLimits = (limits: SandboxLimits): void => refuse(limitsProblem(limits));

/** @throws AgentRlError `CONFIG_INVALID` where there is a problem. */
export function refuse(problem: Problem): void {
  if (problem !== undefined) throw new AgentRlError('CONFIG_INVALID', `${problem}.`);
}
