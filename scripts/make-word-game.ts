import path from 'node:path';

import { conversationLine } from '../dataset/demonstrations/conversations.ts';
import { jsonLines } from '../dataset/tables/json-lines.ts';
import { makeWordGame } from './word-game/word-game-data.ts';
import { outAndSeed, writeData } from './data/written-data.ts';

/** Writes tasks and demonstrations of the word game: `make-word-game [--out .cache/word-game] [--seed N]`. */
const { out, seed } = outAndSeed({ out: path.join('.cache', 'word-game'), seed: 1 });
const data = await makeWordGame(seed, { train: 600, eval: 150, games: 4000 });
await writeData(out, {
  'tasks/train.jsonl': jsonLines(data.train),
  'tasks/eval.jsonl': jsonLines(data.eval),
  'conversations/train.jsonl': data.conversations
    .map((one) => `${conversationLine(one)}\n`)
    .join(''),
});
