import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { ChatTemplate } from '#model/text/chat-template.ts';
import { LanguageModel } from '#model/text/language-model.ts';
import { Tokenizer } from '#model/text/tokenizer.ts';

export const templatesFolder = join(packageRoot(), 'tests', 'fixtures', 'templates');

const templateOf = (name: string) => readFileSync(join(templatesFolder, `${name}.jinja`), 'utf8');

/** Each byte as the character that byte-level tokenizers write it as. */
function byteCharacters(): readonly string[] {
  const printable = (byte: number): boolean =>
    (byte > 32 && byte < 127) || (byte > 160 && byte !== 173 && byte < 256);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(printable(byte) ? byte : next++),
  );
}

/** A tokenizer with a token for each byte, and control tokens from 256 on. */
function byteTokenizer(controls: readonly string[]): Tokenizer {
  const level = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
  const vocab = Object.fromEntries(byteCharacters().map((character, id) => [character, id]));
  const json = {
    added_tokens: controls.map((content, i) => ({ id: 256 + i, content, special: true })),
    normalizer: null,
    pre_tokenizer: level,
    post_processor: null,
    decoder: level,
    model: { type: 'BPE', vocab, merges: [] },
  };
  return new Tokenizer(json, { bos_token: controls[0] });
}

function modelOf(template: string, controls: string): LanguageModel {
  const tokenizer = byteTokenizer(controls.split(' '));
  return new LanguageModel(tokenizer, new ChatTemplate(template, tokenizer.namedTokens));
}

/** A model's text side that speaks as Llama 3: the day, tools in the first message of the user, results of role ipython. */
export const llamaModel = (): LanguageModel =>
  modelOf(
    templateOf('llama3'),
    '<|begin_of_text|> <|eot_id|> <|eom_id|> <|start_header_id|> <|end_header_id|> <|python_tag|>',
  );

/** A model's text side whose turns begin and end as Qwen's do, by the given template. */
export const modelWithTemplate = (template: string): LanguageModel =>
  modelOf(template, '<|endoftext|> <|im_end|> <|im_start|>');

/** A template that knows the roles system, user and assistant, and neither tools nor their results. */
export const plainTemplate = templateOf('plain');

/** A template laid out as Qwen2.5's: a system message of its own, tools there, calls in <tool_call>. */
export const qwen25Template = templateOf('qwen2.5');
