import { join } from 'node:path';

import { expect } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { readLines } from './acme-project.ts';

/** Trains by the smallest job in this process, in `FOLDER/runs` and without evaluations. */
export const smokeTraining = (folder: string, overrides: Readonly<Record<string, unknown>>) =>
  trainAgent({
    config: 'configs/code_exec_smoke.yaml',
    overrides: {
      'run.engineThreads': 1,
      'run.outputDir': join(folder, 'runs'),
      'eval.before': false,
      'eval.after': false,
      ...overrides,
    },
  });

/**
 * Expects that a run has these iterations, that each accounts for every token that was sampled, and that generator and learner agree.
 *
 * @returns how many iterations compared the two: one of equal rewards learns from nothing, and compares nothing
 */
export function expectSoundMetrics(run: string, iterations: number): number {
  const lines = readLines(run, 'metrics.jsonl');
  expect(lines).toHaveLength(iterations);
  for (const line of lines) {
    const booked = Object.entries(line).filter(([name]) => name.startsWith('ledger/'));
    const sum = booked.reduce((total, [, tokens]) => total + Number(tokens), 0);
    expect(sum).toBe(line['rollout/sampledTokens']);
  }
  const gaps = lines.flatMap((line) => line['parity/maxAbsLogProbGap'] ?? []).map(Number);
  process.stderr.write(`parity of each iteration, in nats: ${gaps.join(' ')}\n`);
  for (const gap of gaps) expect(gap).toBeLessThan(1e-4);
  return gaps.length;
}
