import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';

import { freePort } from '#tests/support/free-port.ts';
import { ran } from '../ran.ts';

/*
 * SkyRL's Tinker server as its makers publish it, on the CPU. AGENT_RL_TINKER_VENV names a Python 3.12 environment that has
 * it, and AGENT_RL_UV the program uv; otherwise both are installed from PyPI into a folder, 5 GB. Linux only.
 */

export const skyrlVersion = 'skyrl 0.4.0';
const packages = ['skyrl[tinker,jax]==0.4.0', 'aiohttp', 'httpx'];

export interface SkyrlServer {
  url: string;
  /** At once, with the processes that it started. */
  kill(): Promise<void>;
  /** Again at the same address, with the same database. */
  start(): Promise<void>;
}

/** Where it is installed: reused, or made in a folder. */
function installed(folder: string): { venv: string; uv: string } {
  const { AGENT_RL_TINKER_VENV: given, AGENT_RL_UV: ownUv = 'uv' } = process.env;
  if (given !== undefined) return { venv: given, uv: ownUv };
  const tools = join(folder, 'tools');
  ran('python3', ['-m', 'venv', tools]);
  ran(join(tools, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', 'uv']);
  const uv = join(tools, 'bin', 'uv');
  const venv = join(folder, 'skyrl');
  ran(uv, ['venv', '--quiet', '--python', '3.12', venv]);
  ran(uv, ['pip', 'install', '--quiet', '--python', join(venv, 'bin', 'python'), ...packages]);
  return { venv, uv };
}

/** @param folder for its data and its log, `skyrl.log` */
export async function startSkyrl(model: string, folder: string): Promise<SkyrlServer> {
  const { venv, uv } = installed(folder);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  const words =
    'run --no-project --active -m skyrl.tinker.api --backend jax --host 127.0.0.1'.split(' ');
  words.push('--port', String(port), '--base-model', model);
  words.push('--database-url', `sqlite:///${join(folder, 'tinker.db')}`);
  words.push('--checkpoints-base', join(folder, 'checkpoints'));
  const backend = {
    max_lora_adapters: 5,
    max_lora_rank: 8,
    train_micro_batch_size: 4,
    sample_max_num_sequences: 4,
  };
  words.push('--backend-config', JSON.stringify(backend));
  const env = {
    ...process.env,
    // It starts its engine by the name uv.
    PATH: `${existsSync(uv) ? join(uv, '..') : ''}:${process.env['PATH']}`,
    VIRTUAL_ENV: venv,
    JAX_PLATFORMS: 'cpu',
    HF_HUB_OFFLINE: '1',
    // What was compiled is there after a new start.
    JAX_COMPILATION_CACHE_DIR: join(folder, 'compiled'),
    JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0.5',
  };
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const log = openSync(join(folder, 'skyrl.log'), 'a');
    child = spawn(uv, words, { env, detached: true, stdio: ['ignore', log, log] });
    for (let tries = 0; tries < 1200; tries++) {
      const isUp = await fetch(`${url}/api/v1/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return;
      if (child.exitCode !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    throw new Error(`SkyRL does not start: see ${join(folder, 'skyrl.log')}`);
  };
  const kill = async (): Promise<void> => {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  };
  try {
    await start();
  } catch (thrown) {
    await kill();
    throw thrown;
  }
  return { url, kill, start };
}
