import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { generateRows, shippedSeed } from '../dataset/code_tasks/generator/rows.ts';
import { jsonLines } from '../dataset/tables/json-lines.ts';
import { wholeNumber } from './bench/bench-run.ts';

/** Writes `train.jsonl` and `eval.jsonl`: `make-code-tasks --out dataset/code_tasks [--seed N]`. */
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dataset/code_tasks' },
    seed: { type: 'string', default: String(shippedSeed) },
  },
});
const seed = wholeNumber('seed', values.seed, 0);
for (const split of ['train', 'eval'] as const) {
  const rows = generateRows(split, seed);
  const file = path.join(values.out, `${split}.jsonl`);
  await writeFile(file, jsonLines(rows));
  process.stdout.write(`${file}: ${rows.length} rows\n`);
}
