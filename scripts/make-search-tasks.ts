import { makeSearchData, shippedSeed } from '../dataset/search_tasks/generator/rows.ts';
import { jsonLines } from '../dataset/tables/json-lines.ts';
import { outAndSeed, writeData } from './data/written-data.ts';

/** Writes the search tasks and their corpus: `make-search-tasks [--out dataset] [--seed N]`. */
const { out, seed } = outAndSeed({ out: 'dataset', seed: shippedSeed });
const data = makeSearchData(seed);
await writeData(out, {
  'search_tasks/train.jsonl': jsonLines(data.train),
  'search_tasks/eval.jsonl': jsonLines(data.eval),
  'search_corpus/documents.jsonl': jsonLines(data.documents),
});
