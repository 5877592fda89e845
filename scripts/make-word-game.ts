import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { conversationLine } from '../dataset/demonstrations/conversations.ts';
import { jsonLines } from '../dataset/tables/json-lines.ts';
import { makeWordGame } from './word-game/word-game-data.ts';
import { wholeNumber } from './bench/bench-run.ts';

/** Writes tasks and demonstrations of the word game: `make-word-game [--out .cache/word-game] [--seed N]`. */
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: path.join('.cache', 'word-game') },
    seed: { type: 'string', default: '1' },
  },
});
const data = await makeWordGame(wholeNumber('seed', values.seed, 0), {
  train: 600,
  eval: 150,
  games: 4000,
});
const conversations = data.conversations.map((one) => `${conversationLine(one)}\n`);
const files = {
  'tasks/train.jsonl': jsonLines(data.train),
  'tasks/eval.jsonl': jsonLines(data.eval),
  'conversations/train.jsonl': conversations.join(''),
};
for (const [name, text] of Object.entries(files)) {
  const file = path.join(values.out, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  process.stdout.write(`${file}: ${text.split('\n').length - 1} lines\n`);
}
