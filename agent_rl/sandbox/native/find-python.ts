import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

import { AgentRlError, messageOf } from '../../core/errors.ts';

/** As the supervisor is started: no user's packages, no site, no bytecode written. */
export const pythonFlags = ['-s', '-S', '-B'] as const;

/**
 * The sandbox's whole environment: the same hashes, and so the same order of sets, in every run; libraries bound at the
 * start, not again in each process that is forked; one arena, because each reserves address space, which is limited; and no
 * threads of numerical libraries, which a fork would leave behind.
 */
export const pythonEnvironment = {
  PYTHONHASHSEED: '0',
  PYTHONUTF8: '1',
  LD_BIND_NOW: '1',
  MALLOC_ARENA_MAX: '1',
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
  MKL_NUM_THREADS: '1',
} as const;

const systemPython = '/usr/bin/python3';
const oldest = [3, 9] as const;
const machines: Readonly<Partial<Record<NodeJS.Architecture, string>>> = {
  x64: 'x86_64',
  arm64: 'aarch64',
};

const unavailable = (message: string): AgentRlError =>
  new AgentRlError('SANDBOX_UNAVAILABLE', message);

export const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // The answer is no.
    return false;
  }
};

const onPath = (name: string): string[] =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .filter(isExecutable);

/**
 * A name is looked for on PATH; anything else is a path from the working directory. Absolute: a supervisor has another
 * working directory, and a Python that was started by its name does not always know where it lies.
 *
 * @throws AgentRlError `SANDBOX_UNAVAILABLE`
 */
function located(named: string): string {
  if (named.includes('/')) return resolve(named);
  const [found] = onPath(named);
  if (found !== undefined) return found;
  throw unavailable(
    `No program on PATH is named ${JSON.stringify(named)}. Set sandbox.python to the path of a Python, or use sandbox.type pyodide.`,
  );
}

function problemOf(python: string): string | undefined {
  try {
    const text = execFileSync(
      python,
      [...pythonFlags, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'],
      { env: pythonEnvironment, encoding: 'utf8', timeout: 20_000, stdio: 'pipe' },
    );
    if (!/^\d+\.\d+$/.test(text.trim())) return `${python} does not print a Python version`;
    const [major = 0, minor = 0] = text.trim().split('.').map(Number);
    const recent = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
    return recent ? undefined : `${python} is Python ${text.trim()}`;
  } catch (error) {
    return `${python} does not start: ${messageOf(error).split('\n')[0]}`;
  }
}

/**
 * A Python that the native sandbox can use.
 *
 * @param named the one to use, by its path or its name on PATH; by default the system's own, then those on PATH
 * @throws AgentRlError `SANDBOX_UNAVAILABLE` on other systems than Linux, other machines than x86-64 and 64-bit ARM, or
 *   without Python 3.9 or later
 */
export function findPython(named?: string): string {
  if (process.platform !== 'linux') {
    throw unavailable(
      `The native sandbox needs Linux; this machine runs ${process.platform}. Use sandbox.type pyodide.`,
    );
  }
  if (machines[process.arch] === undefined) {
    throw unavailable(
      `The native sandbox supports x64 and arm64; this machine is ${process.arch}. Use sandbox.type pyodide.`,
    );
  }
  const problems: string[] = [];
  // The system's own first: every user of the machine can read its library.
  const system = [systemPython].filter(isExecutable);
  const candidates = named === undefined ? [...system, ...onPath('python3')] : [located(named)];
  for (const python of new Set(candidates)) {
    const problem = problemOf(python);
    if (problem === undefined) return python;
    problems.push(problem);
  }
  const found = problems.length === 0 ? 'no Python was found' : problems.join('; ');
  throw unavailable(
    `The native sandbox needs Python ${oldest.join('.')} or later: ${found}. Install it, set sandbox.python to its path, or use sandbox.type pyodide.`,
  );
}
