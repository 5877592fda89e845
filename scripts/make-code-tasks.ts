import { generateRows, shippedSeed } from '../dataset/code_tasks/generator/rows.ts';
import { jsonLines } from '../dataset/tables/json-lines.ts';
import { outAndSeed, writeData } from './data/written-data.ts';

/** Writes `train.jsonl` and `eval.jsonl`: `make-code-tasks --out dataset/code_tasks [--seed N]`. */
const { out, seed } = outAndSeed({ out: 'dataset/code_tasks', seed: shippedSeed });
await writeData(out, {
  'train.jsonl': jsonLines(generateRows('train', seed)),
  'eval.jsonl': jsonLines(generateRows('eval', seed)),
});
