import { parseArgs } from 'node:util';

import { prepareRun } from '../agent_rl/compose/prepare-run.ts';
import type { SearchDocument } from '../agent_rl/core/search.ts';
import { formatHits } from '../agent_rl/tools/search/format-hits.ts';
import { searchDemonstrations } from '../dataset/search-demonstrations.ts';
import { makeStarter } from './starter-model/make-starter.ts';
import { searchPieces } from './starter-model/train-tokenizer.ts';

/*
 * Makes the starter model of search from nothing, as `make-starter-model` makes the one of code execution.
 * `make-search-starter [--seed N] [--out FOLDER] [--config FILE]`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: 'model/search-starter' },
    config: { type: 'string', default: 'configs/search_sft.yaml' },
  },
});
const seed = Number(values.seed);
const prepared = await prepareRun({
  file: values.config,
  flags: [{ source: '--seed', path: 'run.seed', value: seed }],
});
const { iterations, batchSize } = prepared.loaded.config.train;

/** As the `search` tool shows what it found. */
const render = (documents: readonly SearchDocument[]): string =>
  formatHits(
    documents.map((document) => ({ ...document, documentId: document.id, score: 0 })),
    false,
  );
const topK = Number(prepared.chosen.tools[0]?.settings['topK']);

const demonstrations = searchDemonstrations(seed, iterations * batchSize, { topK, render });
await makeStarter({
  prepared,
  conversations: [...demonstrations].map(({ messages }) => messages),
  vocabSize: 640,
  apart: searchPieces,
  between: '\n',
  out: values.out,
  say: (text) => void process.stdout.write(`${text}\n`),
});
