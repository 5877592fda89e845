import path from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import type { BatchSize } from './bench-model.ts';
import { withPeerPython, type PeerPython } from './peer-python.ts';
import { programOutput } from './program-output.ts';

export interface PeerVariant {
  name: string;
  /** Absent when it failed. */
  medianS?: number;
  seconds?: readonly number[];
  error?: string;
}

export interface PeerResult {
  version: string;
  threads: number;
  variants: readonly PeerVariant[];
}

export interface PeerOptions extends Pick<PeerPython, 'python' | 'note'> {
  threads: number;
  repeats: number;
  config: ModelConfig;
  size: BatchSize;
}

/** Where the CPU build is not the default one, this brings GPU libraries along: it cannot be imported without them. */
const packages = ['torch>=2.4,<3', 'numpy', 'setuptools'];

/** Times the same training step in PyTorch. */
export function measurePeers(options: PeerOptions): Promise<PeerResult> {
  const { threads, repeats, config, size, note } = options;
  const modules = ['torch', 'numpy', 'setuptools'];
  return withPeerPython({ ...options, modules, packages }, async (python) => {
    note('Measuring: PyTorch');
    const script = path.join(packageRoot(), 'scripts', 'bench', 'peers', 'train_step.py');
    const settings = JSON.stringify({ threads, repeats, ...config, ...size });
    return JSON.parse(await programOutput(python, [script, settings])) as PeerResult;
  });
}
