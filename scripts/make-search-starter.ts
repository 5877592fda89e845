import { parseArgs } from 'node:util';

import { prepareRun } from '../agent_rl/compose/prepare-run.ts';
import { inductionParameters } from './starter-model/induction-weights.ts';
import { makeStarter } from './starter-model/make-starter.ts';
import { searchStarterConfig } from './starter-model/starter-model-config.ts';
import { teacherConversations } from './starter-model/teacher-conversations.ts';
import { searchPieces } from './starter-model/train-tokenizer.ts';

/*
 * Makes the starter model of search from nothing, as `make-starter-model` makes the one of code execution.
 * `make-search-starter [--seed N] [--out FOLDER] [--config FILE] [--reliable]`; with a reliable teacher, the model shows how
 * well it can read.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: 'model/search-starter' },
    config: { type: 'string', default: 'configs/search_sft.yaml' },
    reliable: { type: 'boolean', default: false },
  },
});
const { reliable } = values;
const seed = Number(values.seed);
const prepared = await prepareRun({
  file: values.config,
  flags: [{ source: '--seed', path: 'run.seed', value: seed }],
});
const { iterations, batchSize } = prepared.loaded.config.train;

await makeStarter({
  prepared,
  conversations: [...teacherConversations(prepared, seed, iterations * batchSize, { reliable })],
  model: searchStarterConfig,
  weights: inductionParameters,
  apart: searchPieces,
  between: '\n',
  out: values.out,
  say: (text) => void process.stdout.write(`${text}\n`),
});
