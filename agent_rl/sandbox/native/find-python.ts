import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

import { AgentRlError, messageOf } from '../../core/errors.ts';

/** As the supervisor is started: no user's packages, no site, no bytecode written. */
export const pythonFlags = ['-s', '-S', '-B'] as const;

/** The sandbox's whole environment: the same hashes, and so the same order of sets, in every run. */
export const pythonEnvironment = { PYTHONHASHSEED: '0', PYTHONUTF8: '1' } as const;

const oldest = [3, 9] as const;
const machines: Readonly<Partial<Record<NodeJS.Architecture, string>>> = {
  x64: 'x86_64',
  arm64: 'aarch64',
};

const unavailable = (message: string): AgentRlError =>
  new AgentRlError('SANDBOX_UNAVAILABLE', message);

/** Where a Python may be. The system's own first: every user of the machine can read its library. */
function candidates(path = process.env['PATH'] ?? ''): string[] {
  const folders = path.split(delimiter).filter(isAbsolute);
  return [...new Set(['/usr/bin/python3', ...folders.map((folder) => join(folder, 'python3'))])];
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // The answer is no.
    return false;
  }
};

/** What keeps a file from being a Python to use, or nothing. */
function problemOf(python: string): string | undefined {
  try {
    const text = execFileSync(
      python,
      [...pythonFlags, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'],
      { env: pythonEnvironment, encoding: 'utf8', timeout: 20_000, stdio: 'pipe' },
    );
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
 * @param named the one to use; by default the system's own, then those on PATH
 * @throws AgentRlError `SANDBOX_UNAVAILABLE` on other systems than Linux, other machines than x86-64 and 64-bit ARM, or
 *   without Python 3.9 or later
 */
export function findPython(named?: string): string {
  if (process.platform !== 'linux') {
    throw unavailable(
      `The native sandbox needs Linux; this is ${process.platform}. Use sandbox.type pyodide.`,
    );
  }
  if (machines[process.arch] === undefined) {
    throw unavailable(
      `The native sandbox knows the system calls of x64 and arm64; this is ${process.arch}. Use sandbox.type pyodide.`,
    );
  }
  const problems: string[] = [];
  for (const python of named === undefined ? candidates().filter(isExecutable) : [named]) {
    const problem = problemOf(python);
    if (problem === undefined) return python;
    problems.push(problem);
  }
  const seen = problems.length === 0 ? 'none was found' : problems.join('; ');
  throw unavailable(
    `The native sandbox needs Python ${oldest.join('.')} or later: ${seen}. Install one, name it in sandbox.python, or use sandbox.type pyodide.`,
  );
}
