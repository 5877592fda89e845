import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { EmulatedTerminal } from './emulated-terminal.ts';

const python = '/usr/bin/python3';

/** Whether programs can be run in a pseudo-terminal here. */
export const hasPseudoTerminal: boolean = process.platform !== 'win32' && existsSync(python);

export interface TerminalRun {
  columns: number;
  cwd: string;
  env?: NodeJS.ProcessEnv;
  /** Typed one after the other, each once the terminal has shown what comes before it. */
  types?: readonly (readonly [after: RegExp, keys: string])[];
}

/** Runs Node on a file and its arguments in a pseudo-terminal, and shows what it writes on an emulated one. */
export async function inPseudoTerminal(
  args: readonly string[],
  { columns, cwd, env = {}, types = [] }: TerminalRun,
): Promise<{ terminal: EmulatedTerminal; code: number | null }> {
  const terminal = new EmulatedTerminal({ columns, cooked: false });
  const script = join(packageRoot(), 'tests', 'support', 'run-in-terminal.py');
  const { CI: _ci, NO_COLOR: _noColor, FORCE_COLOR: _forced, ...inherited } = process.env;
  const child = spawn(python, [script, `${columns}`, '24', process.execPath, ...args], {
    cwd,
    env: { ...inherited, TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: 120_000,
  });
  const waiting = [...types];
  let unseen = '';
  child.stdout.on('data', (bytes: Buffer) => {
    terminal.write(bytes);
    unseen += bytes.toString('latin1');
    const [after, keys] = waiting[0] ?? [];
    if (after === undefined || !after.test(unseen)) return;
    waiting.shift();
    unseen = '';
    child.stdin.write(keys ?? '');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { terminal, code };
}
