import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { sft } from '../../../agent_rl/jobs/train/sft.ts';
import { loadConfig } from '../../../agent_rl/config/index.ts';
import { conversationLine } from '../../../dataset/demonstrations/conversations.ts';
import { teacherConversations } from '../../starter-model/teacher-conversations.ts';
import { prepareSeed, type SeedOptions } from './seed.ts';

/** Optimiser steps of two runs that show what starting costs and what a step does. */
const trialSteps = [12, 48] as const;

/**
 * Supervised training that continues from the run's starting weights, on unseen conversations of the teacher,
 * for as many processor seconds as given.
 */
export async function moreWarmUp(options: SeedOptions, cpuSeconds: number) {
  const [few, more] = trialSteps;
  const short = await warmUp(options, 'trial-short', few);
  const long = await warmUp(options, 'trial-long', more);
  const perStep = (long.cpuSeconds - short.cpuSeconds) / (more - few);
  const start = short.cpuSeconds - few * perStep;
  const steps = Math.round((cpuSeconds - start) / perStep);
  if (!(perStep > 0 && steps > 0)) {
    throw new Error(
      `${few} steps took ${short.cpuSeconds} s of processor time and ${more} took ${long.cpuSeconds}: no number of steps takes ${cpuSeconds} s.`,
    );
  }
  return warmUp(options, 'whole', steps);
}

async function warmUp(
  { seed, config, sftConfig, sets, folder, signal, print }: SeedOptions,
  name: string,
  iterations: number,
) {
  const own = path.join(folder, 'more-warm-up', name);
  const prepared = await prepareSeed(
    sftConfig,
    { seed },
    {
      'run.outputDir': path.join(own, 'runs'),
      'model.path': loadConfig({ file: config, overrides: sets }).config.model.path,
      'dataset.dir': own,
      'train.iterations': iterations,
      'train.warmupSteps': Math.min(40, Math.floor(iterations / 10)),
    },
  );
  const { batchSize } = prepared.loaded.config.train;
  const conversations = iterations * batchSize;
  const fresh = freshSeed + seed * 2 + (name === 'whole' ? 0 : 1);
  const lines = (await teacherConversations(prepared, fresh, conversations)).map((messages) =>
    conversationLine({ messages }),
  );
  await mkdir(own, { recursive: true });
  await writeFile(path.join(own, 'train.jsonl'), `${lines.join('\n')}\n`);
  const before = process.cpuUsage();
  const result = await sft({ ...prepared, signal, print, dryRun: false });
  const { user, system } = process.cpuUsage(before);
  return {
    checkpoint: String(result['checkpoint']),
    cpuSeconds: (user + system) / 1e6,
    conversations,
  };
}

/** Far from the seeds that warm-ups are made with. */
const freshSeed = 7_000_000;
