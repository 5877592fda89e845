import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { errorText, exitCodeOf, interrupted } from '../../agent_rl/cli/exit-code.ts';
import { note, wholeNumbers, writeReport } from '../bench/bench-run.ts';
import { medQuadFiles } from './medquad/medquad-files.ts';
import { medQuadMarkdown, type MedQuadSeed } from './medquad/medquad-markdown.ts';
import { medQuadTeacher } from './medquad/medquad-teacher.ts';
import { withoutModel } from './medquad/without-model.ts';
import { smolLm2Recipe } from './smollm2/recipe.ts';
import { seedOptions } from './smollm2/recipe-options.ts';

/*
 * Teaches SmolLM2-135M-Instruct to search MedQuAD's documents and to answer from them: `npm run recipe:medquad -- --medquad FOLDER
 * [--seeds 1] [--out runs/smollm2-medquad] [--python python3] [--gguf FILE] [--set a.b=c]`. Kept and continued as by
 * `recipe:smollm2`. `docs/tutorials/smollm2.md`.
 */
const { values } = parseArgs({
  options: {
    medquad: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    out: { type: 'string', default: 'runs/smollm2-medquad' },
    python: { type: 'string', default: 'python3' },
    gguf: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const { medquad, out, python, gguf } = values;
if (medquad === undefined)
  throw new TypeError(
    '--medquad FOLDER: a checkout of https://github.com/abachaa/MedQuAD is needed.',
  );
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
const { signal } = interrupt;
try {
  const { data, index } = medQuadFiles(medquad, out);
  const options = {
    seeds: wholeNumbers('seeds', values.seeds, 0),
    out,
    python,
    gguf,
    config: 'configs/recipes/smollm2_medquad_grpo.yaml',
    sftConfig: 'configs/recipes/smollm2_medquad_sft.yaml',
    sets: [`dataset.dir=${data}`, `tools.0.corpus.path=${index}`, ...values.set],
    teach: medQuadTeacher,
    signal,
    print: note,
  };
  const done: MedQuadSeed[] = [];
  for await (const { untrained, seeds } of smolLm2Recipe(options)) {
    const newest = seeds.at(-1)!;
    const folder = `seed-${newest.seed}`;
    const own = seedOptions(options, {
      seed: newest.seed,
      folder,
      model: path.join(out, folder, 'taught'),
    });
    done.push({ ...newest, withoutModel: await withoutModel(own, newest.trained.own) });
    const markdown = medQuadMarkdown(untrained, done);
    writeReport(path.join(out, 'report.json'), { untrained, seeds: done });
    await writeFile(path.join(out, 'report.md'), markdown);
    process.stdout.write(markdown);
  }
} catch (thrown) {
  note(signal.aborted ? 'Interrupted. The same command goes on from here.' : errorText(thrown));
  process.exitCode = signal.aborted ? interrupted : exitCodeOf(thrown);
}
