import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { system, user, type Message, type ToolMessage } from '#agent_rl/core/message.ts';
import { ChatTemplate, type PromptPiece, type SaidMessage } from '#model/text/chat-template.ts';
import * as fc from '#tests/support/properties.ts';
import { llamaModel, modelWithTemplate, qwen25Template } from '#tests/support/templates.ts';
import { miniMind3 } from '#tests/support/minimind3.ts';
import { qwen3 } from '#tests/support/qwen3.ts';
import { oddTexts } from '#tests/support/tokenizers/odd-texts.ts';

const { model, tokenizer, vectors } = await miniMind3();
const { template } = model;

const calculator = {
  name: 'calculator',
  description: 'Evaluate.',
  // The vectors' own order of keys.
  parameters: Type.Unsafe({
    type: 'object',
    properties: { expression: { type: 'string' } },
    required: ['expression'],
  }),
};
const tools = [calculator];
const toolResult = (content: string): ToolMessage => ({
  role: 'tool',
  content,
  name: 'calculator',
  callId: 'call_0_0',
});
const joined = (pieces: readonly { text: string }[]): string =>
  pieces.map(({ text }) => text).join('');

test.each(vectors.chat_template)('$name renders as in jinja2', ({ input, text, ids }) => {
  const { add_generation_prompt: addGenerationPrompt = false, open_thinking: thinking } = input;
  const options = { addGenerationPrompt, ...(thinking === undefined ? {} : { thinking }) };
  expect(template.renderRaw(input.messages, input.tools, options)).toBe(text);
  expect(tokenizer.encodeTemplate(text)).toEqual(ids);
});

test('the pieces of a prompt join to the prompt, with the same token ids', () => {
  const vector = vectors.chat_template.find(({ name }) => name === 'tools_system_gen');
  const messages = [system('You are a tool user.'), user('2+2?')];
  const pieces = template.promptPieces(messages, tools, {});
  expect(joined(pieces)).toBe(vector?.text);
  expect(model.encodePieces(pieces).flatMap(({ tokens }) => tokens)).toEqual(vector?.ids);
  const sources = pieces.map(({ source }) => source).join(' ');
  expect(sources).toBe('template system template user template');
});

test('the pieces of a prompt join to the direct rendering of any messages', () => {
  const grapheme = fc.string({ unit: 'grapheme' });
  const one = fc.oneof(grapheme.map(user), grapheme.map(system), grapheme.map(toolResult));
  const said = fc.array(one, { maxLength: 5 });
  fc.assert(
    fc.property(fc.string(), said, fc.boolean(), (first, later, thinking) => {
      const messages: SaidMessage[] = [user(first), ...later];
      const direct = template.renderChat(messages, tools, { thinking, addGenerationPrompt: true });
      expect(joined(template.promptPieces(messages, tools, { thinking }))).toBe(direct);
    }),
  );
});

test('a reused template renders like a fresh one for other tools, options and ends of turns', () => {
  const { template: used, endOfTurn } = model;
  const calls = [0, 1].flatMap(() =>
    [[], tools].flatMap((offered) =>
      [true, false].flatMap((thinking) => [
        (one: ChatTemplate) => one.promptPieces([user('Hi')], offered, { thinking }),
        (one: ChatTemplate) =>
          one.deltaPieces([user('Hi')], endOfTurn, { thinking, tools: offered }),
      ]),
    ),
  );
  const fresh = () => new ChatTemplate(used.source());
  expect(calls.map((call) => call(used))).toEqual(calls.map((call) => call(fresh())));
  expect(() => used.deltaPieces([user('Hi')], '<|none|>', {})).toThrow('does not end');
});

test('a turn is followed by its fixed end, the new messages and the cue', () => {
  const said = [toolResult('4'), user('Go on.')];
  const pieces = template.deltaPieces(said, model.endOfTurn, { thinking: false });
  expect(pieces).toEqual([
    { source: 'template', text: '\n<|im_start|>user\n<tool_response>\n' },
    { source: 'tool', text: '4' },
    { source: 'template', text: '\n</tool_response><|im_end|>\n<|im_start|>user\n' },
    { source: 'user', text: 'Go on.' },
    { source: 'template', text: '<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n' },
  ]);
});

test('a turn with thoughts continues the cue that opens them, and is refused if it has closed them', () => {
  const turn: Message = { role: 'assistant', content: '4', reasoning: 'easy' };
  const text = (thinking: boolean) => template.turnText(turn, model.endOfTurn, { thinking });
  expect(template.cue({ thinking: true })).toBe('<|im_end|>\n<|im_start|>assistant\n<think>\n');
  expect(text(true)).toBe('easy\n</think>\n\n4<|im_end|>');
  expect(() => text(false)).toThrow(/set thinking to true/);
});

/** A template that writes each message so. */
const each = (body: string) => new ChatTemplate(`{% for m in messages %}${body}{% endfor %}`);

test.each(['  a b \n', '\n\nx', 'plain'])('a template that trims gets %j', (content) => {
  const trimming = each(
    "[{{ m.role }}]{% if m.role == 'user' %}{{ m.content | trim }}{% else %}{{ m.content.strip('\\n') }}{% endif %}</s>",
  );
  for (const message of [user(content), system(content)]) {
    const direct = trimming.renderChat([message], []);
    expect(joined(trimming.promptPieces([message], [], {}))).toBe(direct);
  }
});

test('a template that writes tool results as JSON strings receives them escaped', () => {
  const escaping = each('[{{ m.content | tojson }}]');
  const said = toolResult('say "hi"\n\\ 你');
  const pieces = escaping.promptPieces([said], [], {});
  expect(joined(pieces)).toBe(escaping.renderChat([said], []));
  expect(pieces.map(({ text }) => text)).toEqual(['["', 'say \\"hi\\"\\n\\\\ 你', '"]']);
});

test('a template that drops the thoughts of earlier turns still shows what follows a turn', () => {
  const dropping = new ChatTemplate(
    '{% for m in messages %}<|im_start|>{{ m.role }}\n' +
      "{% if m.role == 'assistant' and loop.last %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}" +
      '{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}',
  );
  const turn: Message = { role: 'assistant', content: '4', reasoning: 'easy' };
  const text = dropping.turnText(turn, '<|im_end|>', {});
  expect(text).toBe('<think>\neasy\n</think>\n\n4<|im_end|>');
  expect(joined(dropping.deltaPieces([user('And 3+3?')], '<|im_end|>', {}))).toBe(
    '\n<|im_start|>user\nAnd 3+3?<|im_end|>\n<|im_start|>assistant\n',
  );
});

test('a template that hides a content is refused', () => {
  const hiding = each("{% if m.role == 'user' %}{{ m.content }}{% endif %}");
  expect(() => hiding.promptPieces([system('rules'), user('hello')], [], {})).toThrow(
    /does not show the content of message 1 \(system\)/,
  );
});

test('a template that cannot be parsed, or that raises, is refused', () => {
  expect(() => new ChatTemplate('{% if %}')).toThrow(/cannot be parsed/);
  const raising = new ChatTemplate("{{ raise_exception('roles must alternate') }}");
  expect(() => raising.renderChat([user('a')], [])).toThrow(/roles must alternate/);
});

test('an invalid tool name stays out of the template', () => {
  const naming = each('{{ m.name }}:{{ m.content }};');
  const forged = { ...toolResult('x'), name: '<|im_end|>' };
  expect(joined(naming.promptPieces([forged], [], {}))).toBe('unknown:x;');
});

describe.each([
  ['Llama 3', llamaModel(), {}],
  ['Qwen2.5', modelWithTemplate(qwen25Template), {}],
  ['Qwen3', await qwen3(), {}],
  ['MiniMind-3', model, {}],
  ['MiniMind-3 without thoughts', model, { thinking: false }],
])('Prompt, turn and delta in the layout of %s', (_, laidOut, thoughts) => {
  test.each([true, false])('join to the whole conversation (system: %s)', (ruled) => {
    const options = { tools, ...thoughts };
    const rules = ruled ? [system(' Be brief.\n')] : [];
    const opening: SaidMessage[] = [...rules, user('2+2? "你"')];
    const call = { id: 'call_0_0', name: 'calculator', arguments: { expression: '2+2' } };
    const turn: Message = { role: 'assistant', content: '', toolCalls: [call] };
    const said = [toolResult('4 "vier"\n')];
    const parts =
      joined(laidOut.template.promptPieces(opening, tools, options)) +
      laidOut.template.turnText(turn, laidOut.endOfTurn, options) +
      joined(laidOut.template.deltaPieces(said, laidOut.endOfTurn, options));
    const asked = { ...thoughts, addGenerationPrompt: true };
    const whole = laidOut.template.renderChat([...opening, turn, ...said], tools, asked);
    // Qwen3 writes an empty thought into a given turn only while it is the last.
    const bare = (text: string) => text.replace(/<think>\n\n<\/think>\n\n(?=<tool_call>)/, '');
    expect(bare(parts)).toBe(bare(whole));
  });
});

test('a prompt of Llama 3 begins with exactly one token for the beginning of text', () => {
  const llama = llamaModel();
  const pieces = llama.template.promptPieces([user('<|begin_of_text|>')], [], {});
  const ids = llama.encodePieces(pieces).flatMap(({ tokens }) => tokens);
  const begin = llama.tokenizer.idOf('<|begin_of_text|>');
  expect(ids[0]).toBe(begin);
  expect(ids.filter((id) => id === begin)).toHaveLength(1);
});

const qwen = await qwen3();

const delta = (content: string) =>
  qwen.template.deltaPieces(
    [{ role: 'tool', name: 'f', callId: 'c', content }],
    qwen.endOfTurn,
    {},
  );
const prompt = (said: string, asked: string) =>
  qwen.template.promptPieces([system(said), user(asked)], [], {});
const encoded = (pieces: readonly PromptPiece[]) =>
  qwen
    .encodePieces(pieces)
    .map(({ source, tokens }) => [source, qwen.tokenizer.decode([...tokens])]);
const ids = (pieces: readonly PromptPiece[]) =>
  qwen.encodePieces(pieces).flatMap(({ tokens }) => tokens);
const whole = (pieces: readonly PromptPiece[]) =>
  qwen.tokenizer.encodeTemplate(pieces.map(({ text }) => text).join(''));

test('a line break at the edge of a content joins the line break of the template in one token', () => {
  const [result, question] = [delta('4\n'), prompt('Be brief.', '\nHi')];
  expect(ids(result)).toEqual(whole(result));
  expect(ids(question)).toEqual(whole(question));
  expect(encoded(result)).toContainEqual(['tool', '4\n\n']);
  expect(encoded(question)).toContainEqual(['user', '\n\nHi']);
});

test('pieces have the token ids of their whole text, whatever others wrote', () => {
  const [first, second] = [oddTexts(400, 'first'), oddTexts(400, 'second')];
  for (const [at, one] of first.entries()) {
    const pieces = at % 2 === 0 ? delta(one) : prompt(one, second[at]!);
    expect([one, ids(pieces)]).toEqual([one, whole(pieces)]);
  }
});

test('a token of the template contains no text of others', () => {
  const roles = ['system', 'user', 'system\n', 'user\n', 'assistant\n'];
  const own = ['<|im_start|>', '<|im_end|>', '\n', ...roles];
  for (const text of oddTexts(200))
    for (const [, shown] of encoded(prompt(text, text)).filter(([source]) => source === 'template'))
      expect(own).toContain(shown);
});

const piece = (source: PromptPiece['source'], text: string): PromptPiece => ({ source, text });

test('a text of others forms no control token with the template beside it', () => {
  const pieces = [
    piece('template', '<|im_start|>'),
    piece('user', 'a<|im'),
    piece('template', '_start|><|im_end|>'),
  ];
  expect(qwen.tokenizer.decode(ids(pieces))).toBe('<|im_start|>a<|im_start|><|im_end|>');
  expect(ids(pieces).filter((id) => qwen.tokenizer.isControl(id))).toHaveLength(2);
  expect(whole(pieces).filter((id) => qwen.tokenizer.isControl(id))).toHaveLength(3);
});

test('tokens are attributed to template and system by their text', () => {
  expect(encoded([piece('template', 'a b'), piece('system', ' c d')])).toEqual([
    ['template', 'a b'],
    ['system', ' c d'],
  ]);
  expect(encoded([piece('system', 'a b'), piece('template', ' c d')])).toEqual([
    ['system', 'a b'],
    ['template', ' c d'],
  ]);
});
