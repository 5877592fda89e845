import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { controlsOfSeed, type SeedControls } from './controls/controls-of-seed.ts';
import { controlsMarkdown } from './controls/controls-markdown.ts';

/*
 * What a run's rise in success is owed to. Per seed: the run itself, pass@16 before it, the same compute spent on more
 * supervised warm-up, the trained agent without its tool, and a run whose rewards are shuffled:
 * `npm run bench:controls -- [--config FILE] [--seeds 1,2,3] [--runs FOLDER] [--out FOLDER]`.
 *
 * Every finished part is a file under --out and is not made again; a run found under --runs is read, not repeated.
 */
const { values } = parseArgs({
  options: {
    config: { type: 'string', default: 'configs/code_exec_grpo.yaml' },
    'sft-config': { type: 'string', default: 'configs/code_exec_sft.yaml' },
    seeds: { type: 'string', default: '1,2,3' },
    runs: { type: 'string', default: 'runs' },
    out: { type: 'string', default: 'runs/controls' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const seeds = values.seeds.split(',').map(Number);
if (!seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)) {
  throw new TypeError(`--seeds ${values.seeds}: expected whole numbers, such as 1,2,3.`);
}
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());

await mkdir(values.out, { recursive: true });
const results: SeedControls[] = [];
for (const seed of seeds) {
  results.push(
    await controlsOfSeed({
      seed,
      config: values.config,
      sftConfig: values['sft-config'],
      sets: values.set,
      runs: values.runs,
      folder: path.join(values.out, `seed-${seed}`),
      signal: interrupt.signal,
      print: (text) => void process.stderr.write(`${text}\n`),
    }),
  );
  // After each seed, so that what is known survives an interruption.
  const json = `${JSON.stringify({ config: values.config, sets: values.set, seeds: results }, null, 1)}\n`;
  await writeFile(path.join(values.out, 'controls.json'), json);
  await writeFile(path.join(values.out, 'controls.md'), controlsMarkdown(results));
}
process.stdout.write(controlsMarkdown(results));
