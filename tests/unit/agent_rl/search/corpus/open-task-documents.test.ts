import { describe, expect, test } from '@jest/globals';

import { openTaskDocuments } from '#agent_rl/search/corpus/index.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const document = (id: string, text: string, title = '') => ({ id, title, text });

describe('The search in task documents', () => {
  test('finds documents by their words, best first', async () => {
    const backend = await openTaskDocuments([
      document('a', 'The harbour of Oss lies in the north.'),
      document('b', 'Cats sleep.'),
      document('c', 'The mayor of Oss walks to the harbour, and the harbour of Oss is old.', 'Oss'),
    ]);
    const hits = await backend.search({ query: 'harbour Oss', topK: 5 });
    await backend.close();
    expect(hits.map(({ documentId }) => documentId)).toEqual(['c', 'a']);
    expect(hits[0]).toMatchObject({
      title: 'Oss',
      text: 'The mayor of Oss walks to the harbour, and the harbour of Oss is old.',
      start: 0,
      end: 69,
    });
  });

  test('ranks a document about a thing before one that mentions it: title words count twice', async () => {
    const backend = await openTaskDocuments([
      document('a-mention', 'A person: the spouse is Velmora.', 'Tamlina'),
      document('b-thing', 'A person: the spouse is Duri.', 'Velmora'),
    ]);
    const hits = await backend.search({ query: 'Velmora spouse', topK: 2 });
    await backend.close();
    expect(hits.map(({ documentId, text }) => [documentId, text])).toEqual([
      ['b-thing', 'A person: the spouse is Duri.'],
      ['a-mention', 'A person: the spouse is Velmora.'],
    ]);
  });

  test('orders equal documents by id', async () => {
    const ids = ['m', 'b', 'z', 'a', 'k', 'c', 'y', 'd', 'x', 'e', 'w', 'f', 'v', 'g', 'u', 'h'];
    const backend = await openTaskDocuments(
      ids.map((id) => document(id, 'one and the same words')),
    );
    const hits = await backend.search({ query: 'same words', topK: 3 });
    await backend.close();
    expect(hits.map(({ documentId }) => documentId)).toEqual(['a', 'b', 'c']);
  });

  test('keeps documents of backends apart', async () => {
    const texts = Array.from(
      { length: 24 },
      (_, index) => `The secret of room ${index} is s${index}.`,
    );
    const found = await Promise.all(
      texts.map(async (text, index) => {
        const backend = await openTaskDocuments([document(`d${index}`, text)]);
        const hits = await backend.search({ query: 'secret room', topK: 9 });
        await backend.close();
        return hits.map((hit) => hit.text);
      }),
    );
    expect(found).toEqual(texts.map((text) => [text]));
  });

  test('accepts no documents, blank documents and empty queries', async () => {
    const none = await openTaskDocuments([]);
    const blank = await openTaskDocuments([document('a', '  \n')]);
    const some = await openTaskDocuments([document('a', 'words')]);
    expect(await none.search({ query: 'words', topK: 3 })).toEqual([]);
    expect(await blank.search({ query: 'words', topK: 3 })).toEqual([]);
    expect(await some.search({ query: ' ', topK: 3 })).toEqual([]);
    expect(await some.search({ query: 'the', topK: 3 })).toEqual([]);
    expect(await some.search({ query: '"(words AND', topK: 3 })).toHaveLength(1);
    await some.close();
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
