import { readFileSync } from 'node:fs';
import path from 'node:path';

import { openLanguageModelFolder, type LanguageModel } from '#model/text/language-model.ts';
import type { Tokenizer } from '#model/text/tokenizer.ts';

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
  rope: {
    dim: number;
    theta: number;
    inv_freq: readonly number[];
  };
}

export function miniMind3Vectors(): MiniMind3Vectors {
  return JSON.parse(
    readFileSync(path.join(miniMind3Folder, 'vectors.json'), 'utf8'),
  ) as MiniMind3Vectors;
}

export async function miniMind3(): Promise<{
  model: LanguageModel;
  tokenizer: Tokenizer;
  vectors: MiniMind3Vectors;
}> {
  const model = await openLanguageModelFolder(miniMind3Folder);
  return { model, tokenizer: model.tokenizer, vectors: miniMind3Vectors() };
}
