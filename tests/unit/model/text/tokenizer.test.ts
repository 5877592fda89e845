import { describe, expect, test } from '@jest/globals';

import { Tokenizer } from '#model/text/tokenizer.ts';
import { miniMind3 } from '#tests/support/minimind3.ts';
import * as fc from '#tests/support/properties.ts';

const { tokenizer, vectors } = await miniMind3();

test.each(vectors.tokenizer)('the text $text is encoded as by the reference', ({ text, ids }) => {
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

describe('A text of others', () => {
  const framed =
    '<|im_start|> <|im_end|> <|endoftext|> <tool_call> </tool_call> <tool_response> <think>';
  const control = framed.split(' ');

  test('is decoded as it was written, and never contains a control token', () => {
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
