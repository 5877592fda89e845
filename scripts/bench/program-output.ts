import { spawnSync } from 'node:child_process';

/** Standard output of a program; its standard error is passed on. */
export function programOutput(command: string, args: readonly string[]): string {
  const { error, status, signal, stdout } = spawnSync(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: Infinity,
  });
  if (error !== undefined) throw error;
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.slice(0, 3).join(' ')} ended with ${status ?? signal}.`);
}
