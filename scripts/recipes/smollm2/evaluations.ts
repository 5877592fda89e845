import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { Outcome } from '../../bench/controls/control.ts';
import { evaluated } from '../../bench/controls/evaluated.ts';
import { readOnce, type SeedOptions } from '../../bench/controls/seed.ts';

const gsm8kConfig = 'configs/recipes/smollm2_gsm8k.yaml';

/** What a model does at the run file's own questions, all slices, and at GSM8K where its questions are there. */
export interface ModelEvaluation {
  own: Outcome;
  gsm8k: Outcome | null;
}

/**
 * Attempts all questions, or reads how they were attempted before.
 *
 * @param checkpoint of the model that is evaluated; the seed's own model without it
 * @param questions folder with a test.jsonl of GSM8K
 */
export async function evaluations(
  seed: SeedOptions,
  name: string,
  { checkpoint, questions }: { checkpoint?: string; questions?: string | undefined } = {},
): Promise<ModelEvaluation> {
  const own = await readOnce(seed, name, () => evaluated(seed, {}, checkpoint));
  if (questions === undefined) return { own, gsm8k: null };
  const other = { ...seed, config: gsm8kConfig, sets: [] };
  const settings = { 'datasets.0.dir': questions };
  const gsm8k = await readOnce(seed, `${name}-gsm8k`, () => evaluated(other, settings, checkpoint));
  return { own, gsm8k };
}

/** Questions of GSM8K that are asked: the first of the test set. */
const gsm8kQuestions = 200;

/** Writes them. @returns their folder */
export async function firstQuestions(gsm8k: string, out: string): Promise<string> {
  const text = await readFile(path.join(gsm8k, 'test.jsonl'), 'utf8');
  const lines = text.split('\n').slice(0, gsm8kQuestions);
  const folder = path.join(out, 'gsm8k');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'test.jsonl'), `${lines.join('\n')}\n`);
  return folder;
}
