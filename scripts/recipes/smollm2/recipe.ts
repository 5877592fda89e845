import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import { importGguf } from '../../../agent_rl/jobs/models/import-gguf.ts';
import { keepAsked } from '../../bench/controls/seed.ts';
import { evaluations, firstQuestions, type ModelEvaluation } from './evaluations.ts';
import { type RecipeOptions, seedOf, seedOptions } from './recipe-options.ts';
import { smolLm2File } from './smollm2-file.ts';
import { taughtModel } from './taught-model.ts';
import { reinforced, type Trained } from './trained.ts';

/** A seed's trainings and what its models do. */
export interface SeedResult {
  seed: number;
  sft: Trained;
  grpo: Trained;
  taught: ModelEvaluation;
  trained: ModelEvaluation;
}

export interface RecipeResult {
  untrained: ModelEvaluation;
  seeds: readonly SeedResult[];
}

/**
 * Fetches and converts the model; for each seed supervised training, then reinforcement learning; evaluates the model before
 * and after each. What was done before under the same folder is not done again.
 *
 * @yields What is known after each seed.
 */
export async function* smolLm2Recipe(options: RecipeOptions): AsyncGenerator<RecipeResult> {
  const { out, seeds: numbers, gsm8k } = options;
  await mkdir(out, { recursive: true });
  const model = await untrainedModel(options);
  const questions = gsm8k === undefined ? undefined : await firstQuestions(gsm8k, out);
  // Supervised training does not change the untrained model.
  const evaluation = { ...options, sftConfig: options.config };
  const own = seedOptions(evaluation, { seed: 0, folder: '.', model });
  await keepAsked(own);
  const untrained = await evaluations(own, 'untrained', { questions });
  const seeds: SeedResult[] = [];
  for (const seed of numbers) {
    const from = seedOf(options, seed);
    await mkdir(from.folder, { recursive: true });
    await keepAsked(from);
    const sft = await taughtModel(model, from, options.teach);
    const taught = await evaluations(from, 'taught', { questions });
    const grpo = await reinforced(from);
    const { checkpoint } = grpo;
    const trained = await evaluations(from, 'trained', { checkpoint, questions });
    seeds.push({ seed, sft, grpo, taught, trained });
    yield { untrained, seeds };
  }
}

/** The model as a folder, with a chat template that shows tools. */
async function untrainedModel({
  out,
  python,
  gguf,
  chatTemplate = 'configs/recipes/smollm2_tools.jinja',
  signal,
  print,
}: RecipeOptions): Promise<string> {
  const folder = path.join(out, 'model');
  if (existsSync(folder)) return folder;
  const file = gguf ?? smolLm2File(python, out);
  await importGguf({ file, folder, chatTemplate, signal, print });
  return folder;
}
