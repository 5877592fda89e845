import { parseArgs } from 'node:util';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { note, wholeNumbers } from '../bench/bench-run.ts';
import { medQuadFiles } from './medquad/medquad-files.ts';
import { medQuadMarkdown, type MedQuadSeed } from './medquad/medquad-markdown.ts';
import { medQuadTeacher } from './medquad/medquad-teacher.ts';
import { documentsOf } from './medquad/questions-of.ts';
import { withoutModel } from './medquad/without-model.ts';
import { runRecipe } from './run-recipe.ts';
import { smolLm2Recipe } from './smollm2/recipe.ts';
import { seedOf } from './smollm2/recipe-options.ts';

/*
 * Teaches SmolLM2-135M-Instruct to search MedQuAD's documents and to answer from them: `npm run recipe:medquad -- --medquad FOLDER
 * [--seeds 1] [--out runs/smollm2-medquad] [--python python3] [--gguf FILE] [--sft-config FILE] [--set a.b=c]`. Steps are kept
 * and continued as by `recipe:smollm2`. `docs/tutorials/smollm2.md`.
 */
const { values } = parseArgs({
  options: {
    medquad: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    out: { type: 'string', default: 'runs/smollm2-medquad' },
    python: { type: 'string', default: 'python3' },
    gguf: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    'sft-config': { type: 'string', default: 'configs/recipes/smollm2_medquad_sft.yaml' },
  },
});
const { medquad, set, 'sft-config': sftConfig, ...others } = values;
const seeds = wholeNumbers('seeds', values.seeds, 0);
await runRecipe(others.out, async function* (signal) {
  if (medquad === undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      '--medquad is missing. Give the folder of a checkout of https://github.com/abachaa/MedQuAD, or some of its collections.',
    );
  const { data, index } = await medQuadFiles(medquad, others.out, signal);
  const options = {
    ...others,
    seeds,
    config: 'configs/recipes/smollm2_medquad_grpo.yaml',
    sftConfig,
    sets: [`datasets.0.dir=${data}`, `tools.0.corpus.path=${index}`, 'eval.maxTasks=200', ...set],
    teach: medQuadTeacher,
    signal,
    print: note,
  };
  const done: MedQuadSeed[] = [];
  for await (const result of smolLm2Recipe(options)) {
    const newest = result.seeds.at(-1)!;
    const own = seedOf(options, newest.seed);
    done.push({ ...newest, withoutModel: await withoutModel(own) });
    const markdown = medQuadMarkdown(result.untrained, done, await documentsOf(own));
    yield { markdown, result: { ...result, seeds: done } };
  }
});
