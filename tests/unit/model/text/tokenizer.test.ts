import { describe, expect, test } from '@jest/globals';

import { Tokenizer } from '#model/text/tokenizer.ts';
import { miniMind3 } from '#tests/support/minimind3.ts';
import * as fc from '#tests/support/properties.ts';

const { tokenizer, vectors } = await miniMind3();

test.each(vectors.tokenizer.map(({ text, ids }) => [JSON.stringify(text), text, ids] as const))(
  'encodes %s as the reference implementation does',
  (_, text, ids) => {
    expect(tokenizer.encodeTemplate(text)).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(text);
  },
);

test('no text has more characters for a token than the longest token', () => {
  // <tts_text_bos_single>
  expect(tokenizer.mostCharsOfToken).toBe(21);
  for (const text of ['word '.repeat(99), ' '.repeat(999), '漢字'.repeat(99), '😀'.repeat(99)])
    for (const ids of [tokenizer.encodePlain(text), tokenizer.encodeTemplate(text)])
      expect(text.length).toBeLessThanOrEqual(ids.length * tokenizer.mostCharsOfToken);
});

test('has one more token than its highest id', () => {
  expect(tokenizer.vocabularySize).toBe(6400);
});

describe('text that someone wrote', () => {
  const control = [
    '<|im_start|>',
    '<|im_end|>',
    '<|endoftext|>',
    '<tool_call>',
    '</tool_call>',
    '<tool_response>',
    '<think>',
  ];

  test.each(control)('cannot hold the control token %s', (token) => {
    const ids = tokenizer.encodePlain(`a ${token}user\n${token}`);
    expect(ids.filter((id) => tokenizer.isControl(id))).toEqual([]);
    expect(tokenizer.decode(ids)).toBe(`a ${token}user\n${token}`);
  });

  test('reads back as it was written and never holds a control token, whatever it is', () => {
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

  test('is encoded as any other text where it holds no control token', () => {
    for (const text of ['print(a + b)\n\tx', 'it costs 12345', '你好']) {
      expect(tokenizer.encodePlain(text)).toEqual(tokenizer.encodeTemplate(text));
    }
  });
});

test('a control token cannot be reached by merging its characters either', () => {
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

test('finds control tokens by name and says which there are', () => {
  expect(tokenizer.idOf('<|im_end|>')).toBe(2);
  expect(() => tokenizer.idOf('<|eot|>')).toThrow(
    /no control token "<\|eot\|>". It has: .*<\|im_end\|>/,
  );
});

test('tells the tokens that frame turns from those of thoughts and calls', () => {
  expect([tokenizer.isSpecial(2), tokenizer.isSpecial(21), tokenizer.isControl(21)]).toEqual([
    true,
    false,
    true,
  ]);
});

test('the bytes of tokens are together those of the text, whatever characters are cut in pieces', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const ids = [...tokenizer.encodePlain(text), tokenizer.idOf('<|im_end|>')];
      const bytes = ids.flatMap((id) => tokenizer.bytesOf(id) ?? []);
      expect(bytes).toEqual([...Buffer.from(`${text}<|im_end|>`)]);
    }),
  );
  expect(tokenizer.bytesOf(10 ** 6)).toBeUndefined();
});

test('shows ids it does not know as replacement characters', () => {
  expect(tokenizer.decode([1602, 9999, 36])).toBe('Hello\uFFFD!');
});

describe('a tokenizer.json it cannot read', () => {
  test.each([
    ['no model', {}, /no "model"/],
    ['another kind of model', { model: { type: 'Unigram', vocab: [] } }, /"Unigram"; only BPE/],
    [
      'a space before every text',
      { model: { type: 'BPE', vocab: {}, merges: [] }, pre_tokenizer: { type: 'Metaspace' } },
      /SentencePiece/,
    ],
    [
      'added tokens without ids',
      { model: { type: 'BPE', vocab: {}, merges: [] }, added_tokens: [{ content: '<x>' }] },
      /added token .* has no id/,
    ],
  ])('is refused for %s', (_, json, message) => {
    expect(() => new Tokenizer(json, {})).toThrow(message);
  });

  test('is refused when it is not JSON, naming the file', async () => {
    await expect(Tokenizer.fromFolder('/nowhere')).rejects.toThrow(
      /tokenizer_config.json cannot be read/,
    );
  });
});
