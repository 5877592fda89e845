import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import type { ModelConfig } from '../../model/model-config.ts';
import type { BatchSize } from './bench-model.ts';

export interface PeerVariant {
  readonly name: string;
  /** Absent when it failed. */
  readonly medianS?: number;
  readonly seconds?: readonly number[];
  readonly error?: string;
}

export interface PeerResult {
  readonly version: string;
  readonly threads: number;
  readonly variants: readonly PeerVariant[];
}

export interface PeerOptions {
  /** Python 3.10 or later, with the venv module. */
  readonly python: string;
  readonly threads: number;
  readonly repeats: number;
  readonly config: ModelConfig;
  readonly size: BatchSize;
  readonly note: (text: string) => void;
}

/** Where the CPU build is not the default one, this brings GPU libraries along: it cannot be imported without them. */
const packages = ['torch>=2.4,<3', 'numpy', 'setuptools'];

/** Times the same training step in PyTorch, installed into an environment that is thrown away. */
export async function measurePeers(options: PeerOptions): Promise<PeerResult> {
  const { python, threads, repeats, config, size, note } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'agent-rl-peers-'));
  try {
    note(`Installing PyTorch in ${folder}`);
    const own = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin', 'python');
    await output(python, ['-m', 'venv', folder]);
    await output(own, ['-m', 'pip', 'install', '--quiet', '--no-cache-dir', ...packages]);
    note('Measuring: PyTorch');
    const script = path.join(packageRoot(), 'scripts', 'bench', 'peers', 'train_step.py');
    const settings = JSON.stringify({ threads, repeats, ...config, ...size });
    return JSON.parse(await output(own, [script, settings])) as PeerResult;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Standard output of a program; its standard error is passed on. */
function output(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(text);
      return reject(
        new Error(`${command} ${args.slice(0, 4).join(' ')} ended with ${code ?? signal}.`),
      );
    });
  });
}
