import { describe, expect, test } from '@jest/globals';

import type { PreparedQuestion } from '#dataset/prepare/collection.ts';
import { chunkDocuments } from '#dataset/prepare/passages/chunks.ts';
import { tokenCounterOf } from '#dataset/prepare/passages/token-counter.ts';
import { withAllHolders } from '#dataset/prepare/split/all-holders.ts';
import { splitQuestions } from '#dataset/prepare/split/split-questions.ts';
import { array, assert, constantFrom, nat, property } from '#tests/support/properties.ts';

const tokens = tokenCounterOf((text) => text.match(/\S+/g)?.length ?? 0);
const options = { tokens, chunkTokens: 4, overlapTokens: 0, nearDuplicateThreshold: 1 };
const split = { evalShare: 0.5, seed: 7, splitBy: 'passage' } as const;

const question = (id: string, documents: readonly string[], text = `${id}?`): PreparedQuestion => ({
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
  const chunked = chunkDocuments(documents, options);
  const asked = [{ ...question('q', ['a']), answer }];
  expect(withAllHolders(asked, documents, chunked)[0]?.documents).toEqual(['a', 'b']);
});

describe('splitQuestions', () => {
  const documents = [
    document('a', 'Words of a alone. Shared boiler plate here.'),
    document('b', 'Shared boiler plate here. Words of b alone.'),
    document('c', 'Words of c alone.'),
    document('d', 'Words of d alone.'),
  ];
  const chunked = chunkDocuments(documents, options);
  const questions = ['a', 'b', 'c', 'd'].map((id) => question(`q-${id}`, [id]));
  const sides = (by: 'passage' | 'document', seed: number) => {
    const result = splitQuestions(questions, chunked, { ...split, splitBy: by, seed });
    return result.eval.map(({ id }) => id);
  };
  const seeds = Array.from({ length: 40 }, (_, seed) => seed);

  test('keeps documents that share a passage together when it splits by passage', () => {
    const together = seeds.map((seed) => sides('passage', seed));
    expect(together.every((ids) => ids.includes('q-a') === ids.includes('q-b'))).toBe(true);
    expect(together.some((ids) => ids.includes('q-a'))).toBe(true);
  });

  test('may separate them when it splits by document', () => {
    const apart = seeds.map((seed) => sides('document', seed));
    expect(apart.some((ids) => ids.includes('q-a') !== ids.includes('q-b'))).toBe(true);
  });

  test('returns the same split for a seed, and keeps equal questions together', () => {
    expect(sides('passage', 3)).toEqual(sides('passage', 3));
    const same = [question('q-1', ['c'], 'What is it?'), question('q-2', ['d'], 'what is it')];
    expect(splitQuestions(same, chunked, split)).toMatchObject({ families: 1, largestFamily: 2 });
  });

  test('puts no document, passage or question on both sides', () => {
    const text = array(constantFrom('A b c d.', 'E f g h.', 'I j k l.', 'M n o p.', 'Q r s t.'), {
      minLength: 1,
      maxLength: 2,
    });
    assert(
      property(array(text, { minLength: 1, maxLength: 12 }), nat(), (texts, seed) => {
        const all = texts.map((parts, i) =>
          document(`d${i}`, `${parts.join(' ')} Own words ${i} x.`),
        );
        const cut = chunkDocuments(all, options);
        const asked = all.map(({ id }, i) => question(`q${i}`, [id], `Question ${i % 5}?`));
        const result = splitQuestions(asked, cut, { ...split, seed });
        expect(result.train.length + result.eval.length).toBe(asked.length);
        const passagesOf = (side: readonly PreparedQuestion[]) =>
          new Set(
            side.flatMap((q) =>
              q.documents.flatMap((id) => cut.placed.get(id)?.map(({ chunk }) => chunk) ?? []),
            ),
          );
        const trained = passagesOf(result.train);
        expect([...passagesOf(result.eval)].filter((chunk) => trained.has(chunk))).toEqual([]);
        const texts2 = new Set(result.train.map((q) => q.question));
        expect(result.eval.filter((q) => texts2.has(q.question))).toEqual([]);
      }),
    );
  });
});
