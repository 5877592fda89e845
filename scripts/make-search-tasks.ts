import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { makeSearchData, shippedSeed } from '../dataset/search_tasks/generator/rows.ts';
import { jsonLines } from '../dataset/tables/json-lines.ts';
import { wholeNumber } from './bench/bench-run.ts';

/** Writes the search tasks and their corpus: `make-search-tasks [--out dataset] [--seed N]`. */
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dataset' },
    seed: { type: 'string', default: String(shippedSeed) },
  },
});
const seed = wholeNumber('seed', values.seed, 0);
const data = makeSearchData(seed);
const files = {
  'search_tasks/train.jsonl': data.train,
  'search_tasks/eval.jsonl': data.eval,
  'search_corpus/documents.jsonl': data.documents,
};
for (const [name, rows] of Object.entries(files)) {
  const file = path.join(values.out, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, jsonLines(rows));
  process.stdout.write(`${file}: ${rows.length} rows\n`);
}
