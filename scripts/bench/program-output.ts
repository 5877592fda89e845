import { spawn } from 'node:child_process';

/** Standard output of a program; its standard error is passed on. */
export function programOutput(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(text);
      return reject(
        new Error(`${command} ${args.slice(0, 3).join(' ')} ended with ${code ?? signal}.`),
      );
    });
  });
}
