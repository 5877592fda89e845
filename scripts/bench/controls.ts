import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { note, wholeNumber, wholeNumbers, writeReport } from './bench-run.ts';
import { controlsOfSeed, type SeedControls } from './controls/controls-of-seed.ts';
import { controlsMarkdown } from './controls/controls-markdown.ts';

/*
 * What a run's rise in success is owed to. Per seed: the run itself, pass@k before it, the same compute spent on more
 * supervised warm-up, the trained agent without its tool or with one that lies, and a run whose rewards are shuffled:
 * `npm run bench:controls -- [--config FILE] [--seeds 1,2,3] [--attempts K] [--runs FOLDER] [--out FOLDER]`.
 *
 * Every finished part is a file under --out and is not made again; a run found under --runs is read, not repeated.
 */
const { values } = parseArgs({
  options: {
    config: { type: 'string', default: 'configs/code_exec_grpo.yaml' },
    'sft-config': { type: 'string', default: 'configs/code_exec_sft.yaml' },
    seeds: { type: 'string', default: '1,2,3' },
    // At each task before the run, for pass@k.
    attempts: { type: 'string', default: '16' },
    runs: { type: 'string', default: 'runs' },
    out: { type: 'string', default: 'runs/controls' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const { config, set: sets, runs, out } = values;
const attempts = wholeNumber('attempts', values.attempts);
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());

await mkdir(out, { recursive: true });
const results: SeedControls[] = [];
for (const seed of wholeNumbers('seeds', values.seeds, 0)) {
  results.push(
    await controlsOfSeed({
      seed,
      config,
      sftConfig: values['sft-config'],
      sets,
      attempts,
      runs,
      folder: path.join(out, `seed-${seed}`),
      signal: interrupt.signal,
      print: note,
    }),
  );
  // After each seed, so that what is known survives an interruption.
  writeReport(path.join(out, 'controls.json'), { config, sets, attempts, seeds: results });
  await writeFile(path.join(out, 'controls.md'), controlsMarkdown(results));
}
process.stdout.write(controlsMarkdown(results));
