import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { PreparedQuestion } from '#dataset/prepare/collection.ts';
import { chunkDocuments } from '#dataset/prepare/passages/chunks.ts';
import { firstAlike } from '#dataset/prepare/passages/near-duplicates.ts';
import { splitPassages } from '#dataset/prepare/passages/split-passages.ts';
import { tokenCounterOf } from '#dataset/prepare/passages/token-counter.ts';
import { withAllHolders } from '#dataset/prepare/split/all-holders.ts';
import { splitQuestions } from '#dataset/prepare/split/split-questions.ts';
import { array, assert, constantFrom, integer, nat, property } from '#tests/support/properties.ts';

/** A token is a word here. */
const words = tokenCounterOf((text) => text.match(/\S+/g)?.length ?? 0);
/** A token is a byte here: letters can have several. */
const bytes = tokenCounterOf((text) => Buffer.byteLength(text));

const randomWords = (seed: string, count: number): string[] => {
  const rng = new KeyedRng('near-duplicates', seed);
  return Array.from({ length: count }, () => `w${rng.integer(5000)}`);
};
const [hundred, long] = [randomWords('a', 100), randomWords('b', 200)];
const chain = [long, long.with(5, 'x'), long.with(5, 'x').with(150, 'y')];
const strangers = Array.from({ length: 60 }, (_, i) => randomWords(`c${i}`, 40));
// 98 triples each, 3 of them changed: 95 / 101 = 0.94.
const changed = [hundred, hundred.with(50, 'other')];

test.each([
  ['ignores case and punctuation', ['The  cat sat.', 'a dog', 'the cat, sat'], 1, [0, 1, 0]],
  ['matches one changed word of a hundred at 0.9', changed, 0.9, [0, 0]],
  ['does not match it at 0.97', changed, 0.97, [0, 1]],
  ['returns the first text of a chain', chain, 0.95, [0, 0, 0]],
  ['never matches texts that share little', strangers, 0.5, [...strangers.keys()]],
  ['matches texts without words', ['...', '\u2014', 'word'], 0.8, [0, 0, 2]],
])('firstAlike %s', (_, texts, threshold, first) => {
  const joined = texts.map((text) => (typeof text === 'string' ? text : text.join(' ')));
  expect(firstAlike(joined, threshold)).toEqual(first);
});

describe('splitPassages', () => {
  const sentences = 'One two three. Four five. Six seven eight nine. Ten.';
  const whole = ['One two three. Four five.', 'Six seven eight nine. Ten.'];
  test.each([
    ['fills passages with whole sentences', sentences, [5, 0], whole],
    ['cuts long sentences', 'one two three four five', [2, 0], ['one two', 'three four', 'five']],
    ['repeats overlapTokens', 'a b c d e f', [4, 1], ['a b c d', 'd e f']],
    ['returns nothing for blanks', ' \n\n ', [5, 0], []],
  ] as const)('%s', (_, text, [chunkTokens, overlapTokens], expected) => {
    const passages = splitPassages(text, { tokens: words, chunkTokens, overlapTokens });
    expect(passages.map((passage) => passage.text)).toEqual(expected);
  });

  test('returns passages at their offsets, within the limit, in order, that leave nothing out', () => {
    const pieces = [
      'word',
      'Ende.',
      'caf\u00e9 ',
      '\u4e2d\u6587',
      '\u4e2d'.repeat(50),
      '\u{1f600}',
    ];
    const piece = constantFrom(...pieces, ' ', '\n\n', 'x'.repeat(70), '! ');
    const text = array(piece, { maxLength: 60 }).map((parts) => parts.join(''));
    assert(
      property(
        text,
        integer({ min: 16, max: 60 }),
        nat(10),
        (given, chunkTokens, overlapTokens) => {
          const passages = splitPassages(given, { tokens: bytes, chunkTokens, overlapTokens });
          const covered = Array.from(given, () => false);
          let last = -1;
          for (const passage of passages) {
            expect(given.slice(passage.start, passage.end)).toBe(passage.text);
            expect(passage.tokens).toBeLessThanOrEqual(chunkTokens);
            expect(passage.start).toBeGreaterThanOrEqual(last);
            last = passage.start;
            for (let at = passage.start; at < passage.end; at += 1) covered[at] = true;
          }
          const left = given.split('').filter((unit, at) => !covered[at] && unit.trim() !== '');
          expect(left).toEqual([]);
        },
      ),
    );
  });
});

const options = { tokens: words, chunkTokens: 4, overlapTokens: 0, nearDuplicateThreshold: 1 };
const split = { evalShare: 0.5, seed: 7, splitBy: 'passage' } as const;

const question = (id: string, documents: string[], text = `${id}?`): PreparedQuestion => ({
  id,
  where: `f:${id}`,
  question: text,
  answer: 'an answer',
  aliases: [],
  documents,
  metadata: {},
});

const document = (id: string, text: string) => ({ id, title: id.toUpperCase(), text });

test('a passage that several documents share is kept once, with all of them', () => {
  const shared = 'Shared boiler plate here.';
  const chunked = chunkDocuments(
    [document('a', `Only in a now. ${shared}`), document('b', `${shared} Only in b now.`)],
    options,
  );
  const own = { document_id: 'a', documentIds: ['a'], title: 'A' };
  const other = { document_id: 'b', documentIds: ['b'], title: 'B' };
  expect(chunked.chunks).toEqual([
    { ...own, id: 'a-0', text: 'Only in a now.', start: 0, end: 14 },
    { ...own, id: 'a-1', documentIds: ['a', 'b'], text: shared, start: 15, end: 40 },
    { ...other, id: 'b-1', text: 'Only in b now.', start: 26, end: 40 },
  ]);
  expect(chunked).toMatchObject({ passages: 4, exactDuplicates: 1, nearDuplicates: 0 });
});

test('a question has all documents that hold its answer', () => {
  const answer = 'The answer stands here.';
  const documents = [document('a', answer), document('b', `Before it comes this. ${answer}`)];
  const asked = [{ ...question('q', ['a']), answer }];
  const [found] = withAllHolders(asked, documents, chunkDocuments(documents, options));
  expect(found?.documents).toEqual(['a', 'b']);
});

describe('splitQuestions', () => {
  const texts = {
    a: 'Words of a alone. Shared boiler plate here.',
    b: 'Shared boiler plate here. Words of b alone.',
    c: 'Words of c alone.',
    d: 'Words of d alone.',
  };
  const documents = Object.entries(texts).map(([id, text]) => document(id, text));
  const chunked = chunkDocuments(documents, options);
  const questions = documents.map(({ id }) => question(`q-${id}`, [id]));
  const sides = (splitBy: 'passage' | 'document', seed: number) =>
    splitQuestions(questions, chunked, { ...split, splitBy, seed }).eval.map(({ id }) => id);
  const seeds = Array.from({ length: 40 }, (_, seed) => seed);

  test('keeps documents that share a passage together only if it splits by passage', () => {
    const together = seeds.map((seed) => sides('passage', seed));
    expect(together.every((ids) => ids.includes('q-a') === ids.includes('q-b'))).toBe(true);
    expect(together.some((ids) => ids.includes('q-a'))).toBe(true);
    const apart = seeds.map((seed) => sides('document', seed));
    expect(apart.some((ids) => ids.includes('q-a') !== ids.includes('q-b'))).toBe(true);
  });

  test('returns the same split for a seed, and keeps equal questions together', () => {
    expect(sides('passage', 3)).toEqual(sides('passage', 3));
    const same = [question('q-1', ['c'], 'What is it?'), question('q-2', ['d'], 'what is it')];
    expect(splitQuestions(same, chunked, split)).toMatchObject({ families: 1, largestFamily: 2 });
  });

  test('puts no document, passage or question on both sides', () => {
    const sentence = constantFrom('A b c d.', 'E f g h.', 'I j k l.', 'M n o p.', 'Q r s t.');
    const text = array(sentence, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(' '));
    assert(
      property(array(text, { minLength: 1, maxLength: 12 }), nat(), (given, seed) => {
        const all = given.map((one, i) => document(`d${i}`, `${one} Own words ${i} x.`));
        const cut = chunkDocuments(all, options);
        const asked = all.map(({ id }, i) => question(`q${i}`, [id], `Question ${i % 5}?`));
        const { train, eval: held } = splitQuestions(asked, cut, { ...split, seed });
        expect(train.length + held.length).toBe(asked.length);
        const passagesOf = (side: readonly PreparedQuestion[]) =>
          side
            .flatMap((one) => one.documents.flatMap((id) => cut.placed.get(id) ?? []))
            .map(({ chunk }) => chunk);
        const trained = new Set<unknown>([...passagesOf(train), ...train.map((q) => q.question)]);
        const shown = [...passagesOf(held), ...held.map((q) => q.question)];
        expect(shown.filter((one) => trained.has(one))).toEqual([]);
      }),
    );
  });
});
