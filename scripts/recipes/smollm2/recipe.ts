import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import { importGguf, readTemplate } from '../../../agent_rl/jobs/models/import-gguf.ts';
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
async function untrainedModel(options: RecipeOptions): Promise<string> {
  const { out, chatTemplate = 'configs/recipes/smollm2_tools.jinja', signal, print } = options;
  const folder = path.join(out, 'model');
  if (existsSync(folder)) {
    const kept = readFileSync(path.join(folder, 'chat_template.jinja'), 'utf8');
    if (kept === readTemplate(chatTemplate)) return folder;
    const text = `${folder} has another chat template than ${chatTemplate}. Set --out to another folder, or use that template.`;
    throw new AgentRlError('CONFIG_INVALID', text);
  }
  const file = options.gguf ?? smolLm2File(options.python, out);
  await importGguf({ file, folder, chatTemplate, signal, print });
  return folder;
}
