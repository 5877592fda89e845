import { describe, expect, test } from '@jest/globals';

import { splitPassages } from '#dataset/prepare/passages/split-passages.ts';
import { tokenCounterOf } from '#dataset/prepare/passages/token-counter.ts';
import { array, assert, constantFrom, integer, property } from '#tests/support/properties.ts';

/** A token is a word here. */
const words = tokenCounterOf((text) => text.match(/\S+/g)?.length ?? 0);
/** A token is a byte here: letters can have several. */
const bytes = tokenCounterOf((text) => Buffer.byteLength(text));

describe('splitPassages', () => {
  test.each([
    [
      'fills passages with whole sentences',
      'One two three. Four five. Six seven eight nine. Ten.',
      { chunkTokens: 5, overlapTokens: 0 },
      ['One two three. Four five.', 'Six seven eight nine. Ten.'],
    ],
    [
      'cuts a sentence that is too long between words',
      'alpha beta gamma delta epsilon zeta eta',
      { chunkTokens: 3, overlapTokens: 0 },
      ['alpha beta gamma', 'delta epsilon zeta', 'eta'],
    ],
    [
      'repeats overlapTokens of the passage before',
      'a b c d e f g h',
      { chunkTokens: 4, overlapTokens: 1 },
      ['a b c d', 'd e f g', 'g h'],
    ],
    ['returns nothing for blanks', ' \n\n ', { chunkTokens: 5, overlapTokens: 0 }, []],
  ])('%s', (_, text, options, expected) => {
    const passages = splitPassages(text, { tokens: words, ...options });
    expect(passages.map((passage) => passage.text)).toEqual(expected);
  });

  test('keeps to the limit where one letter has several tokens', () => {
    const text = '\u4e2d'.repeat(50);
    const passages = splitPassages(text, { tokens: bytes, chunkTokens: 30, overlapTokens: 0 });
    expect(Math.max(...passages.map(({ tokens }) => tokens))).toBeLessThanOrEqual(30);
    expect(passages.map((passage) => passage.text).join('')).toBe(text);
  });

  test('returns passages at their offsets, within the limit, in order, that leave nothing out', () => {
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
