import path from 'node:path';

import { openLanguageModelFolder } from '#model/text/language-model.ts';
import { readFixture } from './exchanges.ts';

/** The real tokenizer and chat template of MiniMind-3. */
export const miniMind3Folder = path.join(import.meta.dirname, '../fixtures/minimind3');

/** Values computed by the reference implementations; see the fixture's README. */
export interface MiniMind3Vectors {
  tokenizer: readonly { text: string; ids: readonly number[] }[];
  chat_template: readonly {
    name: string;
    input: {
      messages: readonly Record<string, unknown>[];
      tools?: readonly Record<string, unknown>[];
      add_generation_prompt?: boolean;
      open_thinking?: boolean;
    };
    text: string;
    ids: readonly number[];
  }[];
  rope: { dim: number; theta: number; inv_freq: readonly number[] };
}

export const miniMind3Vectors = (): MiniMind3Vectors =>
  readFixture('minimind3/vectors.json') as MiniMind3Vectors;

export async function miniMind3() {
  const model = await openLanguageModelFolder(miniMind3Folder);
  return { model, tokenizer: model.tokenizer, vectors: miniMind3Vectors() };
}
