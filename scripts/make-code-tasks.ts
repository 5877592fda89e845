import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { generateRows, rowsText, shippedSeed } from '../dataset/code_tasks/generator/rows.ts';

/** Writes `train.jsonl` and `eval.jsonl`: `make-code-tasks --out dataset/code_tasks [--seed N]`. */
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dataset/code_tasks' },
    seed: { type: 'string', default: String(shippedSeed) },
  },
});
const seed = Number(values.seed);
if (!Number.isSafeInteger(seed)) {
  throw new TypeError(`--seed ${values.seed}: expected a whole number, such as ${shippedSeed}.`);
}
for (const split of ['train', 'eval'] as const) {
  const rows = generateRows(split, seed);
  const file = path.join(values.out, `${split}.jsonl`);
  await writeFile(file, rowsText(rows));
  process.stdout.write(`${file}: ${rows.length} rows\n`);
}
