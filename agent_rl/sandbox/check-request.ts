import { AgentRlError } from '../core/errors.ts';
import type { SandboxFiles, SandboxLimits } from '../core/sandbox.ts';

const mebibyte = 1024 * 1024;
const mostCodeChars = mebibyte;
const mostInputChars = 16 * mebibyte;
const mostFileBytes = 32 * mebibyte;
const mostMemoryMiB = 1024;

/** Limits of a program whose request names none. */
export const defaultLimits = { wallS: 10, memoryMiB: 512 } as const;

/** What a request may hold, checked whatever its type says: it may come from plain JavaScript or a network. */
interface Untrusted {
  readonly code: unknown;
  readonly stdin?: unknown;
  readonly files?: SandboxFiles | undefined;
}

/** Why a request cannot be run, or `undefined` when it can. */
export function requestProblem({ code, stdin = '', files = {} }: Untrusted): string | undefined {
  if (typeof code !== 'string') return `code must be a string, got ${typeof code}`;
  if (code.length > mostCodeChars) {
    return `code has ${code.length} characters, at most ${mostCodeChars} are allowed`;
  }
  if (typeof stdin !== 'string') return `stdin must be a string, got ${typeof stdin}`;
  if (stdin.length > mostInputChars) {
    return `stdin has ${stdin.length} characters, at most ${mostInputChars} are allowed`;
  }
  return filesProblem(files);
}

function filesProblem(files: SandboxFiles): string | undefined {
  let bytes = 0;
  for (const [path, content] of Object.entries(files)) {
    const shown = JSON.stringify(path.slice(0, 100));
    if (!isInside(path)) {
      return `the file ${shown} must have a relative path without "..", empty parts or NUL`;
    }
    if (typeof content !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) {
      return `the file ${shown} must be given in base64`;
    }
    bytes += Math.ceil((content.length * 3) / 4);
  }
  if (bytes <= mostFileBytes) return undefined;
  return `the files have ${bytes} bytes, at most ${mostFileBytes} are allowed`;
}

const isInside = (path: string): boolean =>
  path.length <= 1000 &&
  !path.includes('\0') &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

/**
 * Limits in full.
 *
 * @throws AgentRlError `CONFIG_INVALID`
 */
export function checkLimits(limits: SandboxLimits): Required<SandboxLimits> {
  const { wallS, memoryMiB } = { ...defaultLimits, ...limits };
  if (!(wallS > 0 && wallS <= 3600)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `limits.wallS is ${wallS}; it must be above 0 and at most 3600 seconds.`,
    );
  }
  if (!(memoryMiB >= 64 && memoryMiB <= mostMemoryMiB)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `limits.memoryMiB is ${memoryMiB}; it must be from 64 to ${mostMemoryMiB}.`,
    );
  }
  return { wallS, memoryMiB };
}
