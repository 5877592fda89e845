import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { mergeLora } from '../../../agent_rl/jobs/models/merge-lora.ts';
import { sft } from '../../../agent_rl/jobs/sft/sft.ts';
import { conversationLine } from '../../../dataset/demonstrations/conversations.ts';
import { prepareSeed, readOnce, type SeedOptions } from '../../bench/controls/seed.ts';
import type { Teach } from './recipe-options.ts';
import { begunBefore, type Trained, trainedOf } from './trained.ts';

/** Supervised training on right demonstrations; with its adapter merged, the model becomes the one that the seed starts from. */
export async function taughtModel(
  untrained: string,
  seed: SeedOptions,
  teach: Teach,
): Promise<Trained> {
  const training = await readOnce(seed, 'sft', () => supervised(untrained, seed, teach));
  const { starter: outputPath = '', signal, print } = seed;
  if (!existsSync(outputPath)) {
    const loraModels = [training.checkpoint];
    await mergeLora({ baseModel: untrained, loraModels, outputPath, signal, print });
  }
  return training;
}

/** A training that was interrupted is continued. */
async function supervised(untrained: string, options: SeedOptions, teach: Teach): Promise<Trained> {
  const { seed, sftConfig, folder, signal, print } = options;
  const dir = path.join(folder, 'demonstrations');
  const [outputDir, name] = [path.join(folder, 'runs'), 'sft'];
  const prepared = await prepareSeed(
    sftConfig,
    { seed },
    {
      'run.outputDir': outputDir,
      'run.name': name,
      'model.path': untrained,
      'datasets.0.dir': dir,
    },
  );
  const { iterations, batchSize } = prepared.loaded.config.train;
  const conversations = await teach(options, prepared, iterations * batchSize);
  const lines = conversations.map((one) => `${conversationLine(one)}\n`);
  await mkdir(dir, { recursive: true });
  await writeFile(path.join(dir, 'train.jsonl'), lines.join(''));
  const begun = begunBefore(path.join(outputDir, name));
  const summary = await sft({ ...prepared, ...begun, signal, print, dryRun: false });
  signal.throwIfAborted();
  return trainedOf(summary);
}
