import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { sft } from '../../../../agent_rl/jobs/sft/sft.ts';
import { processTreeUsage } from '../../../../agent_rl/telemetry/index.ts';
import { conversationLine } from '../../../../dataset/demonstrations/conversations.ts';
import { prepareOwn, prepareSeed, type SeedOptions } from '../seed.ts';
import { trainFor } from './equal-seconds.ts';
import type { Shown } from './shown.ts';

/** Optimiser steps of two runs that show what starting costs and what a step does. */
const trialSteps = [12, 48] as const;

/**
 * Supervised training that continues from the run's starting weights for as many processor seconds as given. Those that
 * its conversations took to make are counted apart.
 */
export const supervised = (options: SeedOptions, cpuSeconds: number, shown: Shown) =>
  trainFor(cpuSeconds, trialSteps, (name, iterations) =>
    onConversations(options, shown, { name, iterations }),
  );

async function onConversations(
  options: SeedOptions,
  shown: Shown,
  { name, iterations }: { name: string; iterations: number },
) {
  const { seed, sftConfig, folder, signal, print } = options;
  const own = path.join(folder, shown.name, name);
  const { path: start } = (await prepareOwn(options)).loaded.config.model;
  const prepared = await prepareSeed(
    sftConfig,
    { seed },
    {
      'run.outputDir': path.join(own, 'runs'),
      'model.path': start,
      'datasets.0.dir': own,
      'train.iterations': iterations,
      'train.warmupSteps': Math.min(40, Math.floor(iterations / 10)),
    },
  );
  const { batchSize } = prepared.loaded.config.train;
  const count = iterations * batchSize;
  const { cpuSeconds: before } = await processTreeUsage();
  const conversations = await shown.conversations(count, prepared);
  const teachingCpuSeconds = (await processTreeUsage()).cpuSeconds - before;
  const lines = conversations.map((messages) => conversationLine({ messages }));
  await mkdir(own, { recursive: true });
  await writeFile(path.join(own, 'train.jsonl'), `${lines.join('\n')}\n`);
  const result = await sft({ ...prepared, signal, print, dryRun: false });
  signal.throwIfAborted();
  return {
    checkpoint: String(result['checkpoint']),
    iterations,
    cpuSeconds: Number(result['cpuSeconds']),
    conversations: count,
    teachingCpuSeconds,
  };
}
