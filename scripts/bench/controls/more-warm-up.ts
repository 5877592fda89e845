import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { prepareRun } from '../../../agent_rl/compose/prepare-run.ts';
import { runSft } from '../../../agent_rl/compose/run-sft.ts';
import { loadConfig } from '../../../agent_rl/config/index.ts';
import { conversationLine } from '../../../dataset/conversations.ts';
import { teacherConversations } from '../../starter-model/teacher-conversations.ts';
import type { SeedOptions } from './controls-of-seed.ts';

export interface MoreWarmUp {
  readonly checkpoint: string;
  readonly cpuSeconds: number;
  readonly conversations: number;
}

/** Optimiser steps that show how many processor seconds one takes. */
const trialSteps = 12;

/**
 * Supervised training that goes on from the run's starting weights, on conversations of the teacher nobody has seen,
 * for as many processor seconds as given.
 */
export async function moreWarmUp(options: SeedOptions, cpuSeconds: number): Promise<MoreWarmUp> {
  const trial = await warmUp(options, 'trial', trialSteps);
  const steps = Math.max(1, Math.round((trialSteps * cpuSeconds) / trial.cpuSeconds));
  return warmUp(options, 'whole', steps);
}

const set = (key: string, value: unknown) => ({ source: 'bench:controls', path: key, value });

async function warmUp(
  { seed, config, sftConfig, sets, folder, signal, print }: SeedOptions,
  name: string,
  iterations: number,
): Promise<MoreWarmUp> {
  const own = path.join(folder, 'more-warm-up', name);
  const start = loadConfig({ file: config, overrides: sets }).config.model.path;
  const prepared = await prepareRun({
    file: sftConfig,
    flags: [
      set('run.seed', seed),
      set('run.outputDir', path.join(own, 'runs')),
      set('model.path', start),
      set('dataset.dir', own),
      set('train.iterations', iterations),
      set('train.warmupSteps', Math.min(40, Math.floor(iterations / 10))),
    ],
  });
  const { batchSize } = prepared.loaded.config.train;
  const conversations = iterations * batchSize;
  const fresh = freshSeed + seed * 2 + (name === 'trial' ? 1 : 0);
  const lines = [...teacherConversations(prepared, fresh, conversations)].map(conversationLine);
  await mkdir(own, { recursive: true });
  await writeFile(path.join(own, 'train.jsonl'), `${lines.join('\n')}\n`);
  const before = process.cpuUsage();
  const result = await runSft({ ...prepared, signal, print, dryRun: false });
  const { user, system } = process.cpuUsage(before);
  return {
    checkpoint: String(result['checkpoint']),
    cpuSeconds: (user + system) / 1e6,
    conversations,
  };
}

/** Far from the seeds that warm-ups are made with. */
const freshSeed = 7_000_000;
