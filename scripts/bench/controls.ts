import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { namesOf, note, numberFrom, wholeNumber, wholeNumbers, writeReport } from './bench-run.ts';
import { controlNames } from './controls/control.ts';
import { controlsOfSeed, type SeedControls } from './controls/controls-of-seed.ts';
import { controlsMarkdown } from './controls/report/controls-markdown.ts';

/*
 * What a run's rise in success is owed to. Per seed and slice: the run; pass@k before it; the processor seconds of its
 * training spent on more of the same warm-up, on right demonstrations and on rejection sampling; RL from the right
 * demonstrations, also with a price on calls and errors; shuffled rewards; the trained agent with a blank, missing or lying
 * tool; a table without a model; the run less each of them, calls and errors, and what the evaluation shares with training:
 * `npm run bench:controls -- [--config FILE] [--sft-config FILE] [--seeds 1,2,3] [--starters A,B,C] [--parts A,B]
 * [--attempts K] [--price P] [--runs FOLDER] [--out FOLDER]`.
 *
 * With --starters, folders that make-starter wrote with other seeds, the seed varies the whole pipeline, warm-up included.
 * Every finished part is a file under --out and is not made again; a run found under --runs is read, not repeated.
 */
const everything = [...controlNames, 'overlap'];
const { values } = parseArgs({
  options: {
    config: { type: 'string', default: 'configs/code_exec_grpo.yaml' },
    'sft-config': { type: 'string', default: 'configs/code_tasks_sft.yaml' },
    seeds: { type: 'string', default: '1,2,3' },
    // The model that each seed starts from, instead of the config's.
    starters: { type: 'string' },
    // At each task before the run, for pass@k.
    attempts: { type: 'string', default: '8' },
    // Price of a call and of an error, in the part that trains with prices.
    price: { type: 'string', default: '0.05' },
    // Some of the controls, and `overlap`.
    parts: { type: 'string', default: everything.join(',') },
    runs: { type: 'string', default: 'runs' },
    out: { type: 'string', default: 'runs/controls' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const { config, set: sets, runs, out } = values;
const attempts = wholeNumber('attempts', values.attempts);
const price = numberFrom('price', values.price, 0);
const seeds = wholeNumbers('seeds', values.seeds, 0);
const starters = onePerSeed(values.starters);
const parts = namesOf('parts', values.parts, everything);
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());

await mkdir(out, { recursive: true });
const results: SeedControls[] = [];
for (const [place, seed] of seeds.entries()) {
  const starter = starters?.[place];
  results.push(
    await controlsOfSeed(
      {
        seed,
        config,
        sftConfig: values['sft-config'],
        sets,
        starter,
        attempts,
        price,
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
  writeReport(path.join(out, 'controls.json'), { config, sets, attempts, price, seeds: results });
  await writeFile(path.join(out, 'controls.md'), controlsMarkdown(results));
}
process.stdout.write(controlsMarkdown(results));

function onePerSeed(text: string | undefined): string[] | undefined {
  const folders = text?.split(',');
  if (folders === undefined || folders.length === seeds.length) return folders;
  throw new TypeError(
    `--starters ${text} lists ${folders.length} folders for ${seeds.length} seeds; expected one folder for each seed.`,
  );
}
