import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { freePort } from '../free-port.ts';
import { pythonWith, startServer } from '../real-server.ts';

/** A Python with llama.cpp: that of AGENT_RL_LLAMA_CPP_PYTHON, or one that is installed in the folder. */
export const llamaCppPython = (folder: string): string =>
  pythonWith('AGENT_RL_LLAMA_CPP_PYTHON', folder, [
    'xllamacpp==2026.10.11549',
    'gguf==0.19.0',
    'numpy',
  ]);

/**
 * Starts its server on a file, with a context of 512 tokens for each of two requests at once.
 *
 * @param float32 where the weights are written in float32, to compute so
 */
export async function startLlamaCpp(python: string, file: string, name: string, float32?: string) {
  const port = await freePort();
  const script = join(packageRoot(), 'tests', 'support', 'gguf', 'llama_server.py');
  const words = [python, script, file, name, String(port)];
  if (float32 !== undefined) words.push(float32);
  const server = startServer(`http://127.0.0.1:${port}`, { words, log: `${file}.log` });
  await server.ready;
  return server;
}
