import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { sft } from '../../../agent_rl/jobs/train/sft.ts';
import { loadConfig } from '../../../agent_rl/config/index.ts';
import { conversationLine } from '../../../dataset/demonstrations/conversations.ts';
import { teacherConversations } from '../../starter-model/teacher-conversations.ts';
import { iterationsWithin } from './equal-seconds.ts';
import { prepareSeed, type SeedOptions } from './seed.ts';

/** Optimiser steps of two runs that show what starting costs and what a step does. */
const trialSteps = [12, 48] as const;

/** What the conversations of a control show: an unreliable teacher's work, as in the warm-up, or one's without slips. */
export interface Shown {
  /** Folder under that of the seed. */
  name: string;
  reliable: boolean;
}

/**
 * Supervised training that continues from the run's starting weights, on unseen conversations of the teacher,
 * for as many processor seconds as given.
 */
export async function supervised(options: SeedOptions, cpuSeconds: number, shown: Shown) {
  const [few, more] = trialSteps;
  const trial = async (name: string, iterations: number) => ({
    iterations,
    ...(await onConversations(options, { shown, name, iterations })),
  });
  const short = await trial('trial-short', few);
  const long = await trial('trial-long', more);
  const iterations = iterationsWithin(cpuSeconds, short, long);
  return onConversations(options, { shown, name: 'whole', iterations });
}

interface Part {
  shown: Shown;
  name: string;
  iterations: number;
}

async function onConversations(
  { seed, config, sftConfig, sets, folder, signal, print }: SeedOptions,
  { shown, name, iterations }: Part,
) {
  const own = path.join(folder, shown.name, name);
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
  const { reliable } = shown;
  const taught = await teacherConversations(prepared, fresh, conversations, { reliable });
  const lines = taught.map((messages) => conversationLine({ messages }));
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
