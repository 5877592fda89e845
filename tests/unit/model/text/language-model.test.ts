import { cpSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { user } from '#agent_rl/core/message.ts';
import { ChatTemplate } from '#model/text/chat-template.ts';
import * as models from '#model/text/language-model.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { miniMind3, miniMind3Folder } from '#tests/support/minimind3.ts';
import { freshFolder, temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { tinyModels } from '#tests/support/tiny-models.ts';

const { copyLanguageModelFiles, LanguageModel, openLanguageModelFolder } = models;
const { tokenizer } = await miniMind3();
const tiny = tinyModels['Qwen3 with two query heads per key head'] as ModelConfig;
const all = temporaryFolder();
let folder = '';

beforeEach(() => {
  folder = freshFolder(all);
  cpSync(miniMind3Folder, folder, { recursive: true });
});

const open = () => openLanguageModelFolder(folder);
const write = (file: string, content: unknown) =>
  writeBelow(folder, file, typeof content === 'string' ? content : JSON.stringify(content));
/** Changes the tokenizer's config; an undefined key goes. */
function configure(changes: object): void {
  const text = readFileSync(path.join(folder, 'tokenizer_config.json'), 'utf8');
  write('tokenizer_config.json', { ...(JSON.parse(text) as object), ...changes });
}
const usual = "{% for m in messages %}{{ m.role + ': ' + m.content }}<|im_end|>{% endfor %}";

test('MiniMind-3 ends a turn with <|im_end|>, and stops at every end that its folder names', async () => {
  expect(await open()).toMatchObject({ endOfTurn: '<|im_end|>', endOfTurnId: 2, stopTokens: [2] });
  write('generation_config.json', { eos_token_id: [2, 0] });
  expect((await open()).stopTokens).toEqual([2, 0]);
});

describe('The templates for conversations with and without tools', () => {
  const withTools = `{{ tools | length }} tools. ${usual}`;
  const tool = { name: 'add', description: 'Adds.', parameters: Type.Object({}) };
  const shown = async () => {
    const { template } = await open();
    return [
      template.renderChat([user('hi')], []),
      template.renderChat([user('hi')], [tool]),
      template.deltaPieces([user('hi')], '<|im_end|>', { tools: [tool] })[0]?.text,
      template.source() === template.source({ tools: [tool] }),
    ];
  };
  const both = ['user: hi<|im_end|>', '1 tools. user: hi<|im_end|>', 'user: ', false];

  const named = { name: 'tool_use', template: withTools };

  test('may be files, which override tokenizer_config.json', async () => {
    write('chat_template.jinja', usual);
    write('additional_chat_templates/tool_use.jinja', withTools);
    expect(await shown()).toEqual(both);
    const copy = path.join(folder, 'copy');
    await copyLanguageModelFiles(folder, copy);
    folder = copy;
    expect(await shown()).toEqual(both);
  });

  test('may be named in tokenizer_config.json', async () => {
    configure({ chat_template: [named, { name: 'default', template: usual }] });
    expect(await shown()).toEqual(both);
  });

  test('may be a single one in chat_template.json, if no other file holds any', async () => {
    configure({ chat_template: undefined });
    write('chat_template.json', { chat_template: usual });
    expect(await shown()).toEqual([both[0], both[0], both[2], true]);
  });

  test.each([
    ['include one named default', [named], /templates named tool_use, but none named default/],
    ['be strings', [{ name: 'default' }], /its "chat_template" is neither a text nor a list/],
    ['exist', undefined, /holds no chat template.*Base models have no chat template/],
  ])('must %s', async (_, chat_template, problem) => {
    configure({ chat_template });
    await expect(open()).rejects.toThrow(problem);
  });
});

describe('A folder is refused if it', () => {
  test('has no tokenizer', async () => {
    rmSync(path.join(folder, 'tokenizer.json'));
    const problem = errorOf('TOKENIZER_INVALID', 'tokenizer.json');
    await expect(open()).rejects.toMatchObject(problem);
  });

  test('has a template that ends turns with a token the tokenizer lacks', () => {
    const ends = "{% for m in messages %}{{ m.content + '<|eot_id|>' }}{% endfor %}";
    expect(() => new LanguageModel(tokenizer, new ChatTemplate(ends))).toThrow(
      /"<\|eot_id\|>", which does not start with a control token/,
    );
  });

  test.each(['2', ['<|im_end|>'], [2.5], -1])('ends texts with %j, no token id', async (eos) => {
    write('generation_config.json', { eos_token_id: eos });
    const message = `eos_token_id must be a token id or a list of them; got ${JSON.stringify(eos)}`;
    await expect(open()).rejects.toMatchObject(errorOf('MODEL_INVALID', message));
  });

  test('has more tokens than the model, or ends texts with one that the model lacks', async () => {
    const model = await open();
    expect(() => model.checkFits(tiny)).toThrow(/ids up to 6399, .* only 11 tokens/);
    expect(() => model.checkFits({ ...tiny, vocabSize: 6400 })).not.toThrow();
    write('generation_config.json', { eos_token_id: [2, 6400] });
    const other = await open();
    expect(() => other.checkFits({ ...tiny, vocabSize: 6400 })).toThrow(
      /Token 6400 .* generation_config.json.* only 6400 tokens/,
    );
    // More embeddings than ids, as Qwen's models have.
    other.checkFits({ ...tiny, vocabSize: 6401 });
  });
});
