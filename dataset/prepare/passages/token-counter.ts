import path from 'node:path';

import { Tokenizer } from '@huggingface/tokenizers';

import { AgentRlError, messageOf } from '../../../agent_rl/core/errors.ts';
import { readJson } from '../../../model/read-json.ts';

/** How many tokens a text has. */
export type CountTokens = (text: string) => number;

/**
 * Counts by a folder's `tokenizer.json`, whatever its kind: the model of an embedder may need another than a
 * policy can use.
 *
 * @throws AgentRlError `TOKENIZER_INVALID`
 */
export async function tokenCounter(folder: string): Promise<CountTokens> {
  const file = path.join(folder, 'tokenizer.json');
  const json = await readJson(file, 'TOKENIZER_INVALID');
  const config = await readJson(path.join(folder, 'tokenizer_config.json'), 'TOKENIZER_INVALID');
  let tokenizer: Tokenizer;
  try {
    tokenizer = new Tokenizer(json as object, config as object);
  } catch (cause) {
    throw new AgentRlError(
      'TOKENIZER_INVALID',
      `${file} describes no tokenizer that can be built: ${messageOf(cause)}.`,
      { cause },
    );
  }
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
}
