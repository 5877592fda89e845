import { readFileSync } from 'node:fs';
import path from 'node:path';

import { packageRoot } from '../../../agent_rl/core/package-root.ts';
import { type PeerNeeds, programOutput } from '../peers.ts';

/** What TRL needs to train on the code tasks. */
export const trlNeeds: PeerNeeds = {
  modules: ['torch', 'transformers', 'trl', 'datasets'],
  packages: ['torch>=2.4,<3', 'transformers>=5,<6', 'trl>=1.16,<2', 'datasets>=4'],
};

/** What `trl_iteration.py` is asked for. */
export interface TrlOrder {
  root: string;
  folder: string;
  threads: number;
  iterations: number;
  seed: number;
}

export interface TrlAnswer {
  version: string;
  /** `reward` is the share of an iteration's episodes that were solved. */
  iterations: { wallS: number; cpuS: number; sampledTokens: number; reward: number }[];
  peakBytes: number;
}

interface Summary {
  cpuSeconds: number;
  peakRssBytes: number;
}

/** A run of ours on the code tasks, for a number of iterations without evaluations. */
export function codeTasksRun({
  folder,
  iterations,
  threads,
  seed,
}: {
  folder: string;
  iterations: number;
  threads: number;
  seed: number;
}): { summary: Summary; metrics: Record<string, number>[] } {
  const sets = {
    'train.iterations': iterations,
    'train.warmupSteps': 0,
    'train.schedule': 'constant',
    'eval.before': false,
    'eval.after': false,
    'run.engineThreads': threads,
    'run.outputDir': folder,
    'run.name': `of-${iterations}`,
    'run.previewTasks': 0,
  };
  const flags = Object.entries(sets).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const command = path.join(packageRoot(), 'dist', 'scripts', 'agent-rl.js');
  const config = path.join(packageRoot(), 'configs', 'code_exec_grpo.yaml');
  const train = [command, 'train', '--config', config, '--seed', String(seed)];
  programOutput(process.execPath, [...train, ...flags]);
  const textOf = (name: string): string =>
    readFileSync(path.join(folder, `of-${iterations}`, name), 'utf8');
  return {
    summary: JSON.parse(textOf('summary.json')) as Summary,
    metrics: textOf('metrics.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, number>),
  };
}
