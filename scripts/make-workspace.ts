import path from 'node:path';
import { parseArgs } from 'node:util';

import { jsonLines } from '../dataset/tables/json-lines.ts';
import { evalRows, trainRow } from '../dataset/workspace_tasks/generator/rows.ts';
import { wholeNumber } from './bench/bench-run.ts';
import { writeData } from './data/written-data.ts';

/** Writes questions about worlds: `make-workspace [--out .cache/workspace/tasks] [--seed N] [--train N] [--eval N]`. */
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: path.join('.cache', 'workspace', 'tasks') },
    seed: { type: 'string', default: '1' },
    // Questions to train on.
    train: { type: 'string', default: '1000' },
    // Tasks in each slice of the evaluation.
    eval: { type: 'string', default: '200' },
  },
});
const seed = wholeNumber('seed', values.seed, 0);
const train = Array.from({ length: wholeNumber('train', values.train, 1) }, (_, index) =>
  trainRow(seed, index),
);
const held = evalRows(wholeNumber('eval', values.eval, 1));
await writeData(values.out, { 'train.jsonl': jsonLines(train), 'eval.jsonl': jsonLines(held) });
