import path from 'node:path';

import { Tokenizer } from '@huggingface/tokenizers';

import { AgentRlError, messageOf } from '../../../agent_rl/core/errors.ts';
import { readJson } from '../../../model/config/read-json.ts';

/** How many tokens a text has. */
export interface TokenCounter {
  count(text: string): number;
  /** The same by the words of the text, which is fast, and off by a little where tokens cross words. */
  estimate(text: string): number;
}

// Words of natural text repeat; a source of nothing but new words must not fill the memory.
const mostWords = 500_000;

/** Counts with a function that is slow. */
export function tokenCounterOf(count: (text: string) => number): TokenCounter {
  const known = new Map<string, number>();
  const countWord = (word: string): number => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const tokens = count(word);
    if (known.size < mostWords) known.set(word, tokens);
    return tokens;
  };
  return {
    count,
    estimate: (text) =>
      (text.match(/\s?\S+|\s+/g) ?? []).reduce((sum, word) => sum + countWord(word), 0),
  };
}

/**
 * Counts by a folder's `tokenizer.json`, whatever its kind: the model of an embedder may need another than a
 * policy can use.
 *
 * @throws AgentRlError `TOKENIZER_INVALID`
 */
export async function tokenCounter(folder: string): Promise<TokenCounter> {
  const file = path.join(folder, 'tokenizer.json');
  const json = await readJson(file, 'TOKENIZER_INVALID');
  const config = await readJson(path.join(folder, 'tokenizer_config.json'), 'TOKENIZER_INVALID');
  let tokenizer: Tokenizer;
  try {
    tokenizer = new Tokenizer(json, config);
  } catch (cause) {
    throw new AgentRlError(
      'TOKENIZER_INVALID',
      `${file} is not a usable tokenizer: ${messageOf(cause)}.`,
      { cause },
    );
  }
  return tokenCounterOf((text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length);
}
