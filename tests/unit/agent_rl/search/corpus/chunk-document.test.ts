import { describe, expect, test } from '@jest/globals';

import { makeChunker } from '#agent_rl/search/corpus/chunk-document.ts';
import * as fc from '#tests/support/properties.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

const document = (text: string) => ({ id: 'd', title: 'T', text, url: 'https://e.org/d' });

describe('The chunker', () => {
  test('leaves a short document whole and drops a blank one', async () => {
    const chunk = await makeChunker({ tokens: 8 });
    const text = 'one two three';
    const whole = { documentId: 'd', title: 'T', url: 'https://e.org/d', text, start: 0, end: 13 };
    expect(chunk(document(text))).toEqual([whole]);
    expect(chunk(document(' \n '))).toEqual([]);
  });

  test('keeps paragraphs whole where possible and records the position of each piece', async () => {
    const chunk = await makeChunker({ tokens: 8 });
    const text = 'a b c d e\n\nf g h i j\n\nk l';
    const pieces = chunk(document(text));
    const texts = ['a b c d e', 'f g h i j\n\nk l'];
    expect(pieces.map((piece) => piece.text)).toEqual(texts);
    expect(pieces.map(({ start, end }) => text.slice(start, end))).toEqual(texts);
  });

  test('repeats the tokens set by overlap', async () => {
    const chunk = await makeChunker({ tokens: 8, overlap: 2 });
    const pieces = chunk(document('a b c d e f g h i j'));
    expect(pieces.map((piece) => piece.text)).toEqual(['a b c d e f g h', 'g h i j']);
  });

  test('loses and cuts no word and keeps offsets right, for any text', async () => {
    const chunk = await makeChunker({ tokens: 8 });
    const words = fc.array(fc.stringMatching(/^\S{1,12}$/), { minLength: 1, maxLength: 60 });
    const gaps = fc.constantFrom(' ', '\n', '\n\n', '  \t');
    fc.assert(
      fc.property(words, gaps, (parts, gap) => {
        const text = parts.join(gap);
        const pieces = chunk(document(text));
        const found = pieces.flatMap((piece) => piece.text.split(/\s+/));
        expect(found).toEqual(text.trim().split(/\s+/));
        for (const { start, end, text: piece } of pieces)
          expect(text.slice(start, end)).toBe(piece);
      }),
      { numRuns: 100 },
    );
  });

  test('counts tokens with the configured tokenizer', async () => {
    // Every character is a token, and a word has one more for the space before it.
    const vocab = Object.fromEntries('▁abcdefgh'.split('').map((token, id) => [token, id]));
    const nothing = { added_tokens: [], pre_tokenizer: null, post_processor: null, decoder: null };
    const normalizer = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
    const model = { type: 'BPE', vocab, merges: [], unk_token: null };
    const tokenizer = { version: '1.0', ...nothing, normalizer, model };
    writeBelow(folder, 'tokenizer.json', JSON.stringify(tokenizer));
    const chunk = await makeChunker({ tokens: 8, tokenizer: folder });
    const pieces = chunk(document('abc def abc defg'));
    // 4 + 4, then 4, then 5 pieces of a word of 4 letters: 4.
    expect(pieces.map((piece) => piece.text)).toEqual(['abc def', 'abc defg']);
  });

  test('refuses an overlap as long as a passage and a tokenizer that does not exist', async () => {
    const overlapping = await rejectionOf(makeChunker({ tokens: 8, overlap: 8 }));
    const absent = await rejectionOf(makeChunker({ tokenizer: '/nowhere' }));
    expect([overlapping.code, absent.code]).toEqual(['CONFIG_INVALID', 'TOKENIZER_INVALID']);
  });
});
