import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { Type } from 'typebox';

import { user } from '#agent_rl/core/message.ts';
import { ChatTemplate } from '#model/text/chat-template.ts';
import {
  copyLanguageModelFiles,
  LanguageModel,
  openLanguageModelFolder,
} from '#model/text/language-model.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { miniMind3, miniMind3Folder } from '#tests/support/minimind3.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { tinyModels } from '#tests/support/tiny-models.ts';

const { tokenizer } = await miniMind3();
const tiny = tinyModels['Qwen3 with two query heads per key head'] as ModelConfig;
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'language-model-'));
  await cp(miniMind3Folder, folder, { recursive: true });
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const configFile = () => path.join(folder, 'tokenizer_config.json');
const writeConfig = (config: object) => writeFile(configFile(), JSON.stringify(config));
const readConfig = async () =>
  JSON.parse(await readFile(configFile(), 'utf8')) as Record<string, unknown>;

test('MiniMind-3 ends a turn with <|im_end|>', async () => {
  const model = await openLanguageModelFolder(folder);
  expect(model).toMatchObject({ endOfTurn: '<|im_end|>', endOfTurnId: 2, stopTokens: [2] });
});

test('a model stops at every end of text that its folder names', async () => {
  await writeFile(path.join(folder, 'generation_config.json'), '{"eos_token_id": [2, 0]}');
  expect((await openLanguageModelFolder(folder)).stopTokens).toEqual([2, 0]);
});

test('a template file overrides tokenizer_config.json', async () => {
  const template = "{% for m in messages %}{{ m.role + ': ' + m.content }}<|im_end|>{% endfor %}";
  await writeFile(path.join(folder, 'chat_template.jinja'), template);
  const model = await openLanguageModelFolder(folder);
  expect(model.template.renderChat([user('hi')], [])).toBe('user: hi<|im_end|>');
});

test('the template named default is used if there are several', async () => {
  const config = await readConfig();
  const named = [
    { name: 'rag', template: 'x' },
    { name: 'default', template: config['chat_template'] },
  ];
  await writeConfig({ ...config, chat_template: named });
  expect((await openLanguageModelFolder(folder)).endOfTurn).toBe('<|im_end|>');
});

describe('The templates for conversations with and without tools', () => {
  const usual = "{% for m in messages %}{{ m.role + ': ' + m.content }}<|im_end|>{% endfor %}";
  const withTools = `{{ tools | length }} tools. ${usual}`;
  const tool = { name: 'add', description: 'Adds.', parameters: Type.Object({}) };
  const shown = async () => {
    const { template } = await openLanguageModelFolder(folder);
    const options = { tools: [tool] };
    return [
      template.renderChat([user('hi')], []),
      template.renderChat([user('hi')], [tool]),
      template.deltaPieces([user('hi')], '<|im_end|>', options)[0]?.text,
      template.source() === template.source(options),
    ];
  };
  const both = ['user: hi<|im_end|>', '1 tools. user: hi<|im_end|>', 'user: ', false];

  test('may be files, which override tokenizer_config.json', async () => {
    await mkdir(path.join(folder, 'additional_chat_templates'));
    await writeFile(path.join(folder, 'chat_template.jinja'), usual);
    await writeFile(path.join(folder, 'additional_chat_templates', 'tool_use.jinja'), withTools);
    expect(await shown()).toEqual(both);
    const copy = path.join(folder, 'copy');
    await copyLanguageModelFiles(folder, copy);
    folder = copy;
    expect(await shown()).toEqual(both);
    folder = path.dirname(copy);
  });

  test('may be named in tokenizer_config.json', async () => {
    const named = [
      { name: 'tool_use', template: withTools },
      { name: 'default', template: usual },
    ];
    await writeConfig({ ...(await readConfig()), chat_template: named });
    expect(await shown()).toEqual(both);
  });

  test('may be a single one in chat_template.json, if no other file holds any', async () => {
    const { chat_template: _, ...rest } = await readConfig();
    await writeConfig(rest);
    const file = path.join(folder, 'chat_template.json');
    await writeFile(file, JSON.stringify({ chat_template: usual }));
    expect(await shown()).toEqual([both[0], both[0], both[2], true]);
  });

  test('must include one named default', async () => {
    const named = [{ name: 'tool_use', template: withTools }];
    await writeConfig({ ...(await readConfig()), chat_template: named });
    await expect(openLanguageModelFolder(folder)).rejects.toThrow(
      /holds chat templates named tool_use, but none named default/,
    );
  });

  test('must be strings', async () => {
    const wrong = { ...(await readConfig()), chat_template: [{ name: 'default' }] };
    await writeConfig(wrong);
    await expect(openLanguageModelFolder(folder)).rejects.toThrow(
      /its "chat_template" is neither a text nor a list/,
    );
  });
});

test('a copy of a model contains the files that are read', async () => {
  const copy = path.join(folder, 'copy');
  await copyLanguageModelFiles(folder, copy);
  expect((await readdir(copy)).toSorted()).toEqual(['tokenizer.json', 'tokenizer_config.json']);
  expect((await openLanguageModelFolder(copy)).endOfTurnId).toBe(2);
});

describe('A folder is refused if it', () => {
  test('has no chat template', async () => {
    const { chat_template: _, ...rest } = await readConfig();
    await writeConfig(rest);
    await expect(openLanguageModelFolder(folder)).rejects.toThrow(
      /holds no chat template.*Base models have no chat template/,
    );
  });

  test('has no tokenizer', async () => {
    await rm(path.join(folder, 'tokenizer.json'));
    await expect(openLanguageModelFolder(folder)).rejects.toMatchObject(
      errorOf('TOKENIZER_INVALID', 'tokenizer.json'),
    );
  });

  test('has a template that ends turns with a token the tokenizer lacks', () => {
    const foreign = new ChatTemplate(
      '{% for m in messages %}{{ m.content }}<|eot_id|>{% endfor %}',
    );
    expect(() => new LanguageModel(tokenizer, foreign)).toThrow(
      /"<\|eot_id\|>", which does not start with a control token/,
    );
  });

  test.each(['2', ['<|im_end|>'], [2.5], -1])(
    'names %j as its end of text, which is not a token id',
    async (eos) => {
      const file = path.join(folder, 'generation_config.json');
      await writeFile(file, JSON.stringify({ eos_token_id: eos }));
      const message = `eos_token_id must be a token id or a list of them; got ${JSON.stringify(eos)}`;
      await expect(openLanguageModelFolder(folder)).rejects.toMatchObject(
        errorOf('MODEL_INVALID', message),
      );
    },
  );

  test('ends texts with a token the model has no embedding for', async () => {
    await writeFile(path.join(folder, 'generation_config.json'), '{"eos_token_id": [2, 6400]}');
    const model = await openLanguageModelFolder(folder);
    expect(() => model.checkFits({ ...tiny, vocabSize: 6400 })).toThrow(
      /Token 6400 .* generation_config.json.* only 6400 tokens/,
    );
    // More embeddings than ids, as Qwen's models have.
    model.checkFits({ ...tiny, vocabSize: 6401 });
  });

  test('has a tokenizer larger than the model', async () => {
    const model = await openLanguageModelFolder(folder);
    expect(() => model.checkFits(tiny)).toThrow(/ids up to 6399, .* only 11 tokens/);
    expect(() => model.checkFits({ ...tiny, vocabSize: 6400 })).not.toThrow();
  });
});
