import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { freePort } from '#tests/support/free-port.ts';
import { ran } from '../ran.ts';

/** Versions that the tests were written with. */
const packages = ['xllamacpp==2026.10.11549', 'gguf==0.19.0', 'numpy'];

/** A Python with llama.cpp: that of AGENT_RL_LLAMA_CPP_PYTHON, or one that is installed in the folder. */
export function llamaCppPython(folder: string): string {
  const given = process.env['AGENT_RL_LLAMA_CPP_PYTHON'];
  if (given !== undefined) return given;
  ran('python3', ['-m', 'venv', join(folder, 'venv')]);
  const python = join(folder, 'venv', 'bin', 'python');
  ran(python, ['-m', 'pip', 'install', '--quiet', '--no-cache-dir', ...packages]);
  return python;
}

/**
 * Starts its server on a file, with a context of 512 tokens for each of two requests at once.
 *
 * @param float32 where the weights are written in float32, to compute so
 */
export async function startLlamaCpp(
  python: string,
  file: string,
  name: string,
  float32?: string,
): Promise<{ url: string; kill(): Promise<void> }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const script = join(packageRoot(), 'tests', 'support', 'gguf', 'llama_server.py');
  const child = spawn(
    python,
    [script, file, name, String(port), ...(float32 === undefined ? [] : [float32])],
    { stdio: 'ignore' },
  );
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const kill = async (): Promise<void> => {
    if (hasEnded()) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  for (let tries = 0; tries < 600; tries++) {
    const up = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return { url, kill };
    if (hasEnded()) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await kill();
  throw new Error(`The server of llama.cpp does not start on ${file}.`);
}
