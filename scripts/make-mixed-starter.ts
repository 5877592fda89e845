import { parseArgs } from 'node:util';

import { prepareRun } from '../agent_rl/compose/prepare-run.ts';
import { inductionParameters } from './starter-model/induction-weights.ts';
import { makeStarter } from './starter-model/make-starter.ts';
import { mixedStarterConfig } from './starter-model/starter-model-config.ts';
import { teacherConversations } from './starter-model/teacher-conversations.ts';
import { mixedPieces } from './starter-model/train-tokenizer.ts';

/*
 * Makes a starter model of both search and code execution, as `make-search-starter` makes the one of search.
 * `make-mixed-starter [--seed N] [--out FOLDER] [--config FILE]`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: 'model/mixed-starter' },
    config: { type: 'string', default: 'configs/mixed_sft.yaml' },
  },
});
const seed = Number(values.seed);
const prepared = await prepareRun({
  file: values.config,
  flags: [{ source: '--seed', path: 'run.seed', value: seed }],
});
const { iterations, batchSize } = prepared.loaded.config.train;

await makeStarter({
  prepared,
  conversations: [...teacherConversations(prepared, seed, iterations * batchSize)],
  model: mixedStarterConfig,
  weights: inductionParameters,
  apart: mixedPieces,
  between: '\n',
  out: values.out,
  say: (text) => void process.stdout.write(`${text}\n`),
});
