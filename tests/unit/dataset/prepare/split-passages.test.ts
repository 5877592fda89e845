import { describe, expect, test } from '@jest/globals';

import { splitPassages } from '#dataset/prepare/passages/split-passages.ts';
import { tokenCounterOf } from '#dataset/prepare/passages/token-counter.ts';
import { array, assert, constantFrom, integer, property } from '#tests/support/properties.ts';

/** A token is a word here. */
const words = tokenCounterOf((text) => text.match(/\S+/g)?.length ?? 0);
/** A token is a byte here: letters can have several. */
const bytes = tokenCounterOf((text) => Buffer.byteLength(text));

describe('passages', () => {
  test('hold as many whole sentences as fit', () => {
    const text = 'One two three. Four five. Six seven eight nine. Ten.';
    const passages = splitPassages(text, { tokens: words, chunkTokens: 5, overlapTokens: 0 });
    expect(passages.map((passage) => passage.text)).toEqual([
      'One two three. Four five.',
      'Six seven eight nine. Ten.',
    ]);
    expect(passages.map(({ start, end, tokens }) => [start, end, tokens])).toEqual([
      [0, 25, 5],
      [26, 52, 5],
    ]);
  });

  test('cut a sentence that is too long between words', () => {
    const text = 'alpha beta gamma delta epsilon zeta eta';
    const passages = splitPassages(text, { tokens: words, chunkTokens: 3, overlapTokens: 0 });
    expect(passages.map((passage) => passage.text)).toEqual([
      'alpha beta gamma',
      'delta epsilon zeta',
      'eta',
    ]);
  });

  test('repeat so many tokens of the one before', () => {
    const text = 'a b c d e f g h';
    const passages = splitPassages(text, { tokens: words, chunkTokens: 4, overlapTokens: 1 });
    expect(passages.map((passage) => passage.text)).toEqual(['a b c d', 'd e f g', 'g h']);
  });

  test('keep to the limit where one letter has several tokens', () => {
    const text = '\u4e2d'.repeat(50);
    const passages = splitPassages(text, { tokens: bytes, chunkTokens: 30, overlapTokens: 0 });
    expect(Math.max(...passages.map(({ tokens }) => tokens))).toBeLessThanOrEqual(30);
    expect(passages.map((passage) => passage.text).join('')).toBe(text);
  });

  test('are none of an empty text', () => {
    const options = { tokens: words, chunkTokens: 5, overlapTokens: 0 };
    expect(splitPassages('', options)).toEqual([]);
    expect(splitPassages(' \n\n ', options)).toEqual([]);
  });

  test('are what their offsets say, within the limit, in order, and leave nothing out', () => {
    const piece = constantFrom(
      'word',
      'Ende.',
      'caf\u00e9 ',
      '\u4e2d\u6587',
      '\u{1f600}',
      ' ',
      '\n\n',
      'x'.repeat(70),
      '! ',
    );
    assert(
      property(
        array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
        integer({ min: 16, max: 60 }),
        integer({ min: 0, max: 10 }),
        (text, chunkTokens, overlapTokens) => {
          const passages = splitPassages(text, { tokens: bytes, chunkTokens, overlapTokens });
          const covered = Array.from(text, () => false);
          let last = -1;
          for (const passage of passages) {
            expect(text.slice(passage.start, passage.end)).toBe(passage.text);
            expect(passage.tokens).toBeLessThanOrEqual(chunkTokens);
            expect(passage.start).toBeGreaterThanOrEqual(last);
            last = passage.start;
            for (let at = passage.start; at < passage.end; at += 1) covered[at] = true;
          }
          const left = text
            .split('')
            .filter((unit, at) => covered[at] !== true && unit.trim() !== '');
          expect(left).toEqual([]);
        },
      ),
    );
  });
});
