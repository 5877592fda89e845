import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { namesOf, note, wholeNumber, wholeNumbers, writeReport } from './bench-run.ts';
import { controlsOfSeed, type SeedControls } from './controls/controls-of-seed.ts';
import { controlNames } from './controls/parts.ts';
import { controlsMarkdown } from './controls/controls-markdown.ts';

/*
 * What a run's rise in success is owed to. Per seed and slice: the run; pass@k before it; the same processor seconds spent on
 * more of the same warm-up, on right demonstrations and on rejection sampling; RL from the right demonstrations; shuffled
 * rewards; the trained agent with a blank, missing or lying tool; a table without a model; the run less each of them, and
 * what the evaluation shares with training:
 * `npm run bench:controls -- [--config FILE] [--sft-config FILE] [--seeds 1,2,3] [--parts A,B] [--attempts K]
 * [--runs FOLDER] [--out FOLDER]`.
 *
 * Every finished part is a file under --out and is not made again; a run found under --runs is read, not repeated.
 */
const everything = [...controlNames, 'overlap'];
const { values } = parseArgs({
  options: {
    config: { type: 'string', default: 'configs/code_tasks_grpo.yaml' },
    'sft-config': { type: 'string', default: 'configs/code_tasks_sft.yaml' },
    seeds: { type: 'string', default: '1,2,3' },
    // At each task before the run, for pass@k.
    attempts: { type: 'string', default: '16' },
    // Some of the controls, and `overlap`.
    parts: { type: 'string', default: everything.join(',') },
    runs: { type: 'string', default: 'runs' },
    out: { type: 'string', default: 'runs/controls' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const { config, set: sets, runs, out } = values;
const attempts = wholeNumber('attempts', values.attempts);
const parts = namesOf('parts', values.parts, everything);
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());

await mkdir(out, { recursive: true });
const results: SeedControls[] = [];
for (const seed of wholeNumbers('seeds', values.seeds, 0)) {
  results.push(
    await controlsOfSeed(
      {
        seed,
        config,
        sftConfig: values['sft-config'],
        sets,
        attempts,
        runs,
        folder: path.join(out, `seed-${seed}`),
        signal: interrupt.signal,
        print: note,
      },
      {
        controls: controlNames.filter((name) => parts.has(name)),
        overlap: parts.has('overlap'),
      },
    ),
  );
  // After each seed, so that what is known survives an interruption.
  writeReport(path.join(out, 'controls.json'), { config, sets, attempts, seeds: results });
  await writeFile(path.join(out, 'controls.md'), controlsMarkdown(results));
}
process.stdout.write(controlsMarkdown(results));
