import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import {
  endsOfText,
  openLanguageModelFolder,
  type LanguageModel,
} from '../../../model/text/language-model.ts';
import { Tokenizer } from '../../../model/text/tokenizer.ts';

/** What a model folder has of the text side: all of it, a tokenizer alone, or nothing. */
export interface ModelTexts {
  /** Absent where the folder has no tokenizer: ids then stay ids. */
  tokenizer: Tokenizer | undefined;
  /** Or why conversations cannot be made into tokens. */
  conversations: LanguageModel | AgentRlError;
  stopTokens: readonly number[];
}

/** @throws AgentRlError `TOKENIZER_INVALID` when there is a tokenizer and it cannot be read. */
export async function openModelTexts(folder: string): Promise<ModelTexts> {
  try {
    const model = await openLanguageModelFolder(folder);
    return { tokenizer: model.tokenizer, conversations: model, stopTokens: model.stopTokens };
  } catch (problem) {
    if (!AgentRlError.is(problem)) throw problem;
    const has = existsSync(join(folder, 'tokenizer.json'));
    const tokenizer = has ? await Tokenizer.fromFolder(folder) : undefined;
    const stopTokens = [...new Set(await endsOfText(folder, tokenizer))];
    return { tokenizer, conversations: problem, stopTokens };
  }
}
