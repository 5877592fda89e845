import { user } from '../../core/message.ts';
import { environment } from '../../core/plugins/environment.ts';
import type {
  AgentTurn,
  EpisodeEnd,
  MultiAgentEnvironment,
  MultiAgentStart,
  MultiAgentStep,
  Verdict,
} from '../../core/plugins/environment.ts';
import { verdict } from '../../core/plugins/verdict.ts';
import type { Task } from '../../core/tasks/task.ts';
import { WordGameSettings } from './settings.ts';

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** A word of the list, as it is compared. */
const keyOf = (text: string): string => wordsIn(text).join(' ');

/** The words on the table and the secret one among them. */
function wordsOf({ metadata }: Task): { words: readonly string[]; secret: string } | undefined {
  const { words, secret }: { words?: unknown; secret?: unknown } = metadata;
  return areTexts(words) && typeof secret === 'string' ? { words, secret } : undefined;
}

const areTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

function wordsProblem(task: Task): string | undefined {
  const game = wordsOf(task);
  if (game === undefined) return 'it needs words, a list of strings, and secret, one of them.';
  const keys = game.words.map(keyOf);
  if (keys.includes('') || new Set(keys).size !== keys.length || keys.length < 2)
    return 'it needs two or more distinct words, each with a letter or digit.';
  return game.words.includes(game.secret)
    ? undefined
    : `its secret ${JSON.stringify(game.secret)} is not among its words.`;
}

/**
 * A speaker sees some words and which one is secret, and gives a hint that names none of them; a guesser sees the words
 * and the hint, and says one. Both are rewarded if it is the secret. A hint against the rules ends the game.
 */
@environment({
  name: 'word_game',
  description: 'A speaker hints at one of several words without naming any; a guesser finds it.',
  settings: WordGameSettings,
  agents: ['speaker', 'guesser'],
  taskFormat: 'plain',
  taskProblem: wordsProblem,
})
export class WordGameEnv implements MultiAgentEnvironment {
  readonly #words: readonly string[];
  readonly #secret: string;
  readonly #settings: WordGameSettings;
  #brokeRules = false;
  #guess: string | undefined;

  constructor({ task, settings }: { task: Task; settings: WordGameSettings }) {
    const { words = [], secret = '' } = wordsOf(task) ?? {};
    this.#words = words;
    this.#secret = secret;
    this.#settings = settings;
  }

  async start(): Promise<MultiAgentStart> {
    const words = `Words: ${this.#words.join(', ')}.`;
    const task = `${words} Secret: ${this.#secret}. Give a hint that names none of the words.`;
    return { conversations: { speaker: [user(task)] }, first: 'speaker' };
  }

  async step({ agent, message }: AgentTurn): Promise<MultiAgentStep> {
    const said = message.content.trim();
    if (agent === 'guesser') {
      this.#guess = said;
      return { done: true };
    }
    this.#brokeRules = !this.#isAllowed(said);
    if (this.#brokeRules) return { done: true };
    const hint = this.#settings.hints === 'shown' ? said : '';
    const words = `Words: ${this.#words.join(', ')}. Hint: ${hint}. Which word is it?`;
    return { done: false, next: 'guesser', tell: { guesser: [user(words)] } };
  }

  async finish(end: EpisodeEnd): Promise<Record<string, Verdict>> {
    const guess = keyOf(this.#guess ?? '');
    const right = this.#guess !== undefined && guess === keyOf(this.#secret);
    const onList = this.#words.some((word) => keyOf(word) === guess);
    const components = { found: right ? this.#settings.successReward : 0 };
    const judged = (metrics: Record<string, number>) =>
      verdict(end, { success: right, components, metrics });
    return {
      speaker: judged({ brokeRules: this.#brokeRules ? 1 : 0 }),
      guesser: judged({ saidAnotherWord: onList || this.#guess === undefined ? 0 : 1 }),
    };
  }

  /** Whether a hint has as many words as it may and none of them is, or holds, one of the list. */
  #isAllowed(hint: string): boolean {
    const said = wordsIn(hint);
    if (said.length === 0 || said.length > this.#settings.maxHintWords) return false;
    // Spaces, hyphens and the like between letters hide no word.
    const letters = said.join('');
    return !this.#words.some((word) => letters.includes(wordsIn(word).join('')));
  }
}
