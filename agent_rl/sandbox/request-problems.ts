import { toUSVString } from 'node:util';

import { AgentRlError } from '../core/errors.ts';
import type { AssertTests, SandboxFiles, SandboxLimits } from '../core/sandbox.ts';

const mebibyte = 1024 * 1024;
export const mostMemoryMiB = 1024;
const mostCodeChars = mebibyte;
const mostInputChars = 16 * mebibyte;
const mostTestChars = 4 * mebibyte;
const mostWallS = 3600;
const mostNameBytes = 255;

const mostFileChars = 64 * mebibyte;

/** Limits of a program whose request names none. */
export const defaultLimits = { wallS: 10, memoryMiB: 512 } as const;

/** A problem is why a request cannot be run; `undefined` where there is none. */
type Problem = string | undefined;

const textProblem = (name: string, value: unknown, most: number): Problem => {
  if (typeof value !== 'string') return `${name} must be a string, got ${typeof value}`;
  if (value.length <= most) return undefined;
  return `${name} has ${value.length} characters, at most ${most} are allowed`;
};

export const programProblem = (request: { code: unknown; stdin?: unknown }): Problem =>
  textProblem('code', request.code, mostCodeChars) ??
  textProblem('stdin', request.stdin ?? '', mostInputChars);

export function callsProblem(request: { code: unknown; entry: unknown; args: unknown }): Problem {
  const { code, entry, args } = request;
  const problem = programProblem({ code }) ?? textProblem('entry', entry, mostCodeChars);
  if (problem !== undefined) return problem;
  if (!Array.isArray(args) || !args.every((list) => Array.isArray(list))) {
    return 'args must be a list of lists of arguments';
  }
  return textProblem('args as JSON', JSON.stringify(args), mostInputChars);
}

const isListOfStrings = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

export function testsProblem(tests: AssertTests): Problem {
  const { setup = '', statements, entry = '', names = [] } = tests;
  if (!isListOfStrings(statements)) return 'tests.statements must be a list of strings';
  if (!isListOfStrings(names)) return 'tests.names must be a list of strings';
  return (
    textProblem('tests.setup', setup, mostTestChars) ??
    textProblem('tests.entry', entry, mostTestChars) ??
    textProblem('tests as JSON', JSON.stringify(tests), mostTestChars)
  );
}

/** Only what no file system could take is refused here; the quota of files is kept where they are written. */
export function filesProblem(files: SandboxFiles = {}): Problem {
  for (const [path, content] of Object.entries(files)) {
    const problem = pathProblem(path);
    if (problem !== undefined) return `the path ${JSON.stringify(path)} in files ${problem}`;
    if (!isBase64(content)) return `the content of ${JSON.stringify(path)} in files is no base64`;
  }
  const chars = Object.values(files).reduce((sum, content) => sum + content.length, 0);
  if (chars <= mostFileChars) return undefined;
  return `files has ${chars} characters of base64, at most ${mostFileChars} are allowed`;
}

function pathProblem(path: string): Problem {
  if (path.startsWith('/')) return 'must be relative to the working folder';
  if (path.includes('\0')) return 'has a NUL character';
  if (toUSVString(path) !== path) return 'has half of a surrogate pair';
  const names = path.split('/');
  if (names.includes('..')) return 'leads out of the working folder';
  if (names.some((name) => name === '' || name === '.')) return 'has an empty part';
  if (names.every((name) => Buffer.byteLength(name) <= mostNameBytes)) return undefined;
  return `has a part of more than ${mostNameBytes} bytes`;
}

const isBase64 = (content: unknown): boolean =>
  typeof content === 'string' && content.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(content);

/** @throws AgentRlError `CONFIG_INVALID` for limits that cannot be kept. */
export function checkedLimits({ wallS, memoryMiB }: Required<SandboxLimits>): {
  wallMs: number;
  memoryBytes: number;
} {
  checkSeconds('limits.wallS', wallS);
  if (!(memoryMiB >= 64 && memoryMiB <= mostMemoryMiB)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `limits.memoryMiB is ${memoryMiB}; it must be from 64 to ${mostMemoryMiB}.`,
    );
  }
  return { wallMs: wallS * 1000, memoryBytes: Math.floor(memoryMiB) * mebibyte };
}

/** @throws AgentRlError `CONFIG_INVALID` for a time that is none. */
export function checkSeconds(name: string, value: number): void {
  if (value > 0 && value <= mostWallS) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${name} is ${value}; it must be above 0 and at most ${mostWallS} seconds.`,
  );
}
