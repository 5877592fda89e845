import { parseArgs } from 'node:util';

import { prepareRun } from '../agent_rl/compose/prepare-run.ts';
import { initialParameters } from '../model/config/parameters.ts';
import { makeStarter } from './starter-model/make-starter.ts';
import { starterModelConfig } from './starter-model/starter-model-config.ts';
import { teacherConversations } from './starter-model/teacher-conversations.ts';
import { codePieces } from './starter-model/train-tokenizer.ts';

/*
 * Makes the starter model of code execution from nothing: conversations of the unreliable teacher, a tokenizer trained
 * on them, fresh weights, supervised training. `make-starter-model [--seed N] [--out FOLDER] [--config FILE]`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: 'model/starter' },
    config: { type: 'string', default: 'configs/code_exec_sft.yaml' },
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
  model: starterModelConfig,
  weights: initialParameters,
  apart: codePieces,
  between: '',
  out: values.out,
  say: (text) => void process.stdout.write(`${text}\n`),
});
