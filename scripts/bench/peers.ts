import path from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { note } from './bench-run.ts';
import { type PeerNeeds, withPeerPython } from './peer-python.ts';
import { programOutput } from './program-output.ts';

export interface PeerResult {
  version: string;
  threads: number;
  variants: {
    name: string;
    /** Absent when it failed. */
    medianS?: number;
    seconds?: number[];
    error?: string;
  }[];
}

const needs: PeerNeeds = {
  modules: ['torch', 'numpy', 'setuptools'],
  // Where the CPU build is not the default one, this brings GPU libraries along: it cannot be imported without them.
  packages: ['torch>=2.4,<3', 'numpy', 'setuptools'],
};

/**
 * Times the same training step in PyTorch.
 *
 * @param settings threads, repeats, sizes of model and batch: what train_step.py reads
 */
export const measurePeers = (python: string, settings: object): Promise<PeerResult> =>
  withPeerPython(python, needs, async (own) => {
    note('Measuring: PyTorch');
    const script = path.join(packageRoot(), 'scripts', 'bench', 'peers', 'train_step.py');
    return JSON.parse(programOutput(own, [script, JSON.stringify(settings)])) as PeerResult;
  });
