import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { freePort } from '../free-port.ts';
import { installByUv, type RealServer, startServer } from '../real-server.ts';

// SkyRL's Tinker server as its makers publish it, on the CPU. AGENT_RL_TINKER_VENV names a Python 3.12 environment that has
// it, and AGENT_RL_UV the program uv; otherwise both are installed from PyPI into a folder, 5 GB. Linux only.

export const skyrlVersion = 'skyrl 0.4.0';
const packages = ['skyrl[tinker,jax]==0.4.0', 'aiohttp', 'httpx'];

export interface SkyrlServer extends Pick<RealServer, 'url' | 'kill'> {
  /** Again at the same address, with the same database. */
  start(): Promise<void>;
}

/** Where it is installed: reused, or made in a folder. */
function installed(folder: string): { venv: string; uv: string } {
  const { AGENT_RL_TINKER_VENV: given, AGENT_RL_UV: ownUv = 'uv' } = process.env;
  if (given !== undefined) return { venv: given, uv: ownUv };
  const venv = join(folder, 'skyrl');
  return { venv, uv: installByUv(folder, { home: venv, python: '3.12', packages }) };
}

/** @param folder for its data and its log, `skyrl.log` */
export async function startSkyrl(model: string, folder: string): Promise<SkyrlServer> {
  const { venv, uv } = installed(folder);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  const module = 'run --no-project --active -m skyrl.tinker.api --backend jax --host 127.0.0.1';
  const words = [uv, ...module.split(' '), '--port', String(port), '--base-model', model];
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
    // It starts its engine by the name uv.
    PATH: `${existsSync(uv) ? join(uv, '..') : ''}:${process.env['PATH']}`,
    VIRTUAL_ENV: venv,
    JAX_PLATFORMS: 'cpu',
    HF_HUB_OFFLINE: '1',
    // What was compiled is there after a new start.
    JAX_COMPILATION_CACHE_DIR: join(folder, 'compiled'),
    JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0.5',
  };
  const log = join(folder, 'skyrl.log');
  let server: RealServer;
  const start = (): Promise<void> => {
    server = startServer(url, { words, log, env, health: '/api/v1/healthz' });
    return server.ready;
  };
  await start();
  return { url, start, kill: () => server.kill() };
}
