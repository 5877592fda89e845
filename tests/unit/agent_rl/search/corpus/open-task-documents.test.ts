import { describe, expect, test } from '@jest/globals';

import { openTaskDocuments } from '#agent_rl/search/corpus/index.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const document = (id: string, text: string, title = '') => ({ id, title, text });

type Documents = Parameters<typeof openTaskDocuments>[0];

/** What one search in these documents finds. */
async function found(documents: Documents, query: string, topK = 9) {
  const backend = await openTaskDocuments(documents);
  const hits = await backend.search({ query, topK });
  await backend.close();
  return hits;
}

describe('The search in task documents', () => {
  test('finds documents by their words, best first', async () => {
    const text = 'The mayor of Oss walks to the harbour, and the harbour of Oss is old.';
    const documents = [
      document('a', 'The harbour of Oss lies in the north.'),
      document('b', 'Cats sleep.'),
      document('c', text, 'Oss'),
    ];
    const hits = await found(documents, 'harbour Oss');
    expect(hits.map(({ documentId }) => documentId)).toEqual(['c', 'a']);
    expect(hits[0]).toMatchObject({ title: 'Oss', text, start: 0, end: 69 });
  });

  test('ranks a document about a thing before one that mentions it: title words count twice', async () => {
    const documents = [
      document('a-mention', 'A person: the spouse is Velmora.', 'Tamlina'),
      document('b-thing', 'A person: the spouse is Duri.', 'Velmora'),
    ];
    const hits = await found(documents, 'Velmora spouse');
    expect(hits.map(({ documentId, text }) => [documentId, text])).toEqual([
      ['b-thing', 'A person: the spouse is Duri.'],
      ['a-mention', 'A person: the spouse is Velmora.'],
    ]);
  });

  test('orders equal documents by id', async () => {
    const ids = 'mbzakcydxewfvguh'.split('');
    const documents = ids.map((id) => document(id, 'one and the same words'));
    const hits = await found(documents, 'same words', 3);
    expect(hits.map(({ documentId }) => documentId)).toEqual(['a', 'b', 'c']);
  });

  test('keeps documents of backends apart', async () => {
    const texts = Array.from({ length: 24 }, (_, i) => `The secret of room ${i} is s${i}.`);
    const searches = texts.map((text) => found([document('d', text)], 'secret room'));
    const hits = await Promise.all(searches);
    expect(hits.map((each) => each.map(({ text }) => text))).toEqual(texts.map((text) => [text]));
  });

  test('accepts no documents, blank documents and empty queries', async () => {
    const some = [document('a', 'words')];
    expect(await found([], 'words')).toEqual([]);
    expect(await found([document('a', '  \n')], 'words')).toEqual([]);
    expect(await found(some, ' ')).toEqual([]);
    expect(await found(some, 'the')).toEqual([]);
    expect(await found(some, '"(words AND')).toHaveLength(1);
  });

  test('refuses two documents with the same id', async () => {
    const twins = [document('a', 'one'), document('a', 'two')];
    expect(await rejectionOf(openTaskDocuments(twins))).toMatchObject({ code: 'DATASET_INVALID' });
  });

  test('stops when the caller aborts', async () => {
    const backend = await openTaskDocuments([document('a', 'words')]);
    const reason = new Error('too late');
    const search = backend.search({ query: 'words', topK: 1, signal: AbortSignal.abort(reason) });
    await expect(search).rejects.toBe(reason);
    await backend.close();
    await expect(backend.search({ query: 'words', topK: 1 })).rejects.toThrow('closed');
  });
});
