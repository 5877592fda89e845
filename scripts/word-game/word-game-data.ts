import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import { append } from '../../agent_rl/core/long-lists.ts';
import type { Message } from '../../agent_rl/core/message.ts';
import { WordGameEnv } from '../../agent_rl/environments/word-game/word-game-env.ts';

/** What can be said of each word: what it is, its colour, its size, and what is said of no other. */
const features: Readonly<Record<string, readonly [string, string, string, string]>> = {
  lion: ['animal', 'yellow', 'big', 'mane'],
  crow: ['animal', 'black', 'small', 'beak'],
  frog: ['animal', 'green', 'small', 'pond'],
  fox: ['animal', 'red', 'big', 'den'],
  lemon: ['fruit', 'yellow', 'big', 'sour'],
  olive: ['fruit', 'black', 'small', 'oil'],
  lime: ['fruit', 'green', 'big', 'juice'],
  cherry: ['fruit', 'red', 'small', 'stone'],
  taxi: ['vehicle', 'yellow', 'small', 'fare'],
  train: ['vehicle', 'black', 'big', 'rail'],
  tractor: ['vehicle', 'green', 'big', 'farm'],
  bike: ['vehicle', 'red', 'small', 'chain'],
  sun: ['nature', 'yellow', 'big', 'sky'],
  coal: ['nature', 'black', 'small', 'mine'],
  leaf: ['nature', 'green', 'small', 'tree'],
  rose: ['nature', 'red', 'small', 'thorn'],
};

const list = Object.keys(features);

/** Words on the table of one game. */
const tableSize = 6;

interface WordGameTask {
  task_id: string;
  prompt: string;
  words: string[];
  secret: string;
}

export interface WordGameData {
  train: WordGameTask[];
  /** Tasks with tables that no task of `train` has. */
  eval: WordGameTask[];
  /** What a teacher said in other games, each side a conversation. */
  conversations: { messages: Message[] }[];
}

export interface WordGameSizes {
  train: number;
  eval: number;
  /** Games that the teacher played: two conversations each. */
  games: number;
}

const settings = { maxHintWords: 1, hints: 'shown', successReward: 1 } as const;

/**
 * Tasks of the word game, and demonstrations of a teacher who knows the rules and not how to win: it says one of the four
 * things that can be said of the secret, whatever else they fit, and guesses any word that the hint fits.
 */
export async function makeWordGame(seed: number, sizes: WordGameSizes): Promise<WordGameData> {
  const random = new KeyedRng(seed, 'word-game');
  const tasks = tasksOf(sizes.train + sizes.eval + sizes.games, random);
  const games = tasks.slice(sizes.train + sizes.eval);
  const conversations: WordGameData['conversations'] = [];
  for (const [index, task] of games.entries())
    append(conversations, await taughtGame(task, random.child('teacher', index)));
  return {
    train: tasks.slice(0, sizes.train),
    eval: tasks.slice(sizes.train, sizes.train + sizes.eval),
    conversations,
  };
}

/** Tasks no two of which have the same words on the table and the same secret. */
function tasksOf(count: number, random: KeyedRng): WordGameTask[] {
  const seen = new Set<string>();
  const tasks: WordGameTask[] = [];
  for (let draw = 0; tasks.length < count; draw++) {
    const words = random.child('table', draw).shuffle(list).slice(0, tableSize);
    const secret = words[random.child('secret', draw).integer(tableSize)] ?? '';
    const key = [...words.toSorted(), secret].join(' ');
    if (seen.has(key)) continue;
    seen.add(key);
    const prompt = `${secret}: ${words.join(', ')}`;
    tasks.push({ task_id: `game-${tasks.length}`, prompt, words, secret });
  }
  return tasks;
}

async function taughtGame(
  { task_id: taskId, prompt, words, secret }: WordGameTask,
  random: KeyedRng,
): Promise<WordGameData['conversations']> {
  const hint = pick(featuresOf(secret), random.child('hint'));
  const fitting = words.filter((word) => featuresOf(word).includes(hint));
  const guess = pick(fitting, random.child('guess'));
  const game = new WordGameEnv({ task: { taskId, prompt, metadata: { words, secret } }, settings });
  const { conversations } = await game.start();
  const said = { role: 'assistant', content: hint } as const;
  const { tell = {} } = await game.step({ agent: 'speaker', index: 0, message: said, calls: [] });
  const told = tell['guesser'] ?? [];
  return [
    { messages: [...(conversations['speaker'] ?? []), said] },
    { messages: [...told, { role: 'assistant', content: guess }] },
  ];
}

const featuresOf = (word: string): readonly string[] => features[word] ?? [];

function pick(items: readonly string[], random: KeyedRng): string {
  const item = items[random.integer(items.length)];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
}
