import { readFile } from 'node:fs/promises';

import { AgentRlError, messageOf } from '../../../core/errors.ts';
import { KeyedRng } from '../../../core/keyed-rng.ts';
import type { ModelConfig } from '../../../../model/config/architecture.ts';
import { Tokenizer } from '../../../../model/text/tokenizer.ts';
import type { QuantizeOptions } from '../model-choice.ts';
import { largest } from '../../../core/long-lists.ts';

/** Tokens of one piece of text, where the model has as many positions. */
const windowTokens = 512;
/** Random tokens that stand in for a text. */
const randomWindows = { count: 4, tokens: 128 };

/**
 * What the models are compared on: the start of a text in pieces of one length, or random tokens.
 *
 * @throws AgentRlError `CONFIG_INVALID` when the text cannot be read or is too short; `TOKENIZER_INVALID`
 */
export async function comparisonWindows(
  { model, text, textTokens, seed }: QuantizeOptions,
  { vocabSize, maxPositions }: ModelConfig,
): Promise<readonly Int32Array[]> {
  if (text === undefined) {
    const { count, tokens } = randomWindows;
    const rng = new KeyedRng(seed, 'random text');
    return Array.from({ length: count }, () =>
      new Int32Array(Math.min(tokens, maxPositions)).map(() => rng.integer(vocabSize)),
    );
  }
  if (!Number.isInteger(textTokens) || textTokens < 2) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--text-tokens must be a whole number of at least 2, got ${textTokens}.`,
    );
  }
  const tokenizer = await Tokenizer.fromFolder(model);
  const ids = tokenizer.encodePlain(await readText(text)).slice(0, textTokens);
  const length = Math.min(ids.length, windowTokens, maxPositions);
  if (length < 2) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--text ${text} has ${ids.length} tokens; at least 2 are needed, and several hundred for a meaningful comparison.`,
    );
  }
  const most = largest(ids);
  if (most >= vocabSize) {
    throw new AgentRlError(
      'TOKENIZER_INVALID',
      `The tokenizer in ${model} produces id ${most}, but the model has embeddings for only ${vocabSize} tokens. Use the tokenizer of this model.`,
    );
  }
  const count = Math.floor(ids.length / length);
  return Array.from({ length: count }, (_, index) =>
    Int32Array.from(ids.slice(index * length, (index + 1) * length)),
  );
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (cause) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--text ${file} cannot be read as UTF-8: ${messageOf(cause)}.`,
      { cause },
    );
  }
}
