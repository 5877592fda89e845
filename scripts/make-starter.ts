import path from 'node:path';
import { parseArgs } from 'node:util';

import { wholeNumber } from './bench/bench-run.ts';
import { makeStarter } from './starter-model/make-starter.ts';
import { starters } from './starter-model/starters.ts';

/*
 * Makes a starter model from nothing: conversations of the unreliable teacher, a tokenizer trained on them, fresh
 * weights, supervised training. `make-starter NAME [--seed N] [--out FOLDER] [--config FILE] [--reliable]`; with a
 * reliable teacher, a model that searches shows how well it can read.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
    config: { type: 'string' },
    reliable: { type: 'boolean', default: false },
  },
});
const [name = ''] = positionals;
const starter = Object.hasOwn(starters, name) ? starters[name] : undefined;
if (starter === undefined || positionals.length > 1) {
  throw new TypeError(`make-starter NAME: name one of ${Object.keys(starters).join(', ')}.`);
}
await makeStarter({
  starter,
  seed: wholeNumber('seed', values.seed, 0),
  out: values.out ?? path.join('model', name),
  config: values.config ?? starter.config,
  reliable: values.reliable,
  print: (text) => void process.stdout.write(`${text}\n`),
});
