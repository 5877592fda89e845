import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { fetchHubDataset, parquetRevision } from '#dataset/prepare/hub-dataset.ts';
import { canonicalUrl, documentId } from '#dataset/prepare/document-id.ts';
import { recordOfHotpotRow } from '#dataset/prepare/readers/hotpotqa.ts';
import { recordOfRow } from '#dataset/prepare/readers/mapped-rows.ts';
import * as readers from '#dataset/prepare/readers/read-source.ts';
import { findSource } from '#dataset/prepare/readers/source-files.ts';
import type { SourceItem } from '#dataset/prepare/source-record.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf, thrownBy } from '#tests/support/thrown.ts';
import { json, webServer } from '#tests/support/web-server.ts';

const folder = temporaryFolder();
const fixture = join(import.meta.dirname, '../../../fixtures/medquad');

const read = async (files: readonly string[], options: Partial<readers.ReadSourceOptions> = {}) => {
  const items: SourceItem[] = [];
  const all = { format: 'medquad', columns: {}, fetched: false, ...options } as const;
  for await (const item of readers.readSource(files, all)) items.push(item);
  return items;
};

const xml = (name: string, text: string): string => writeBelow(folder, name, text);

describe('A MedQuAD file', () => {
  test('is read in each of its three dialects', async () => {
    const items = await read([
      join(fixture, '9_CDC_QA/0000141.xml'),
      join(fixture, '9_CDC_QA/0000397.xml'),
      join(fixture, '6_NINDS_QA/0000007.xml'),
    ]);
    const records = items.flatMap((item) => ('record' in item ? [item.record] : []));
    expect(new Set(records.map(({ documents }) => documents[0]?.url)).size).toBe(3);
    expect(records.at(-1)).toMatchObject({
      where: expect.stringMatching(/0000007\.xml:\d+$/),
      documents: [{ title: 'Holmes-Adie' }],
      question: { metadata: { document_source: 'NINDS' }, relevant: [0], aliases: [] },
    });
  });

  test('is dropped without pairs, and is a problem with its line if it is invalid', async () => {
    const broken = xml('broken.xml', '<Document url="http://a.example/">\n<QAPairs>\n</Document>');
    const other = xml('other.xml', '<html></html>');
    const homeless = xml('homeless.xml', '<Document><QAPairs></QAPairs></Document>');
    const latin = writeBelow(folder, 'latin.xml', Buffer.from([0x3c, 0xe9, 0x3e]));
    const pairless = join(fixture, '5_NIDDK_QA/0000064.xml');
    expect(await read([pairless, broken, other, homeless, latin])).toMatchObject([
      { dropped: { reason: 'no-pairs' } },
      { problem: { where: `${broken}:3`, text: expect.stringContaining('is not XML') } },
      { problem: { text: expect.stringContaining('no <Document>') } },
      { problem: { text: expect.stringContaining('no url') } },
      { problem: { text: expect.stringContaining('not UTF-8') } },
    ]);
  });

  const many = Array.from({ length: 1200 }, (_, index) => `<!ENTITY e${index} "x">`).join('');
  test.each([
    ['an external entity', '<!ENTITY d SYSTEM "file:///etc/passwd">', /External entities/],
    ['too many entities', many, /[Ee]ntit(y|ies)/],
  ])('is a problem if it has %s, and the next file is read', async (_, entities, text) => {
    const file = xml('entities.xml', `<!-- a -->\n<!DOCTYPE x [${entities}]><Document url="u"/>`);
    expect(await read([file, join(fixture, '5_NIDDK_QA/0000064.xml')])).toMatchObject([
      { problem: { where: `${file}:2`, text: expect.stringMatching(text) } },
      { dropped: { reason: 'no-pairs' } },
    ]);
  });

  test('loses pairs without an answer, and has its entities decoded', async () => {
    const file = xml(
      'pairs.xml',
      `<Document source="S" url="http://a.example/"><Focus>F</Focus><QAPairs>
<QAPair pid="1"><Question qid="1" qtype="t">Why?</Question><Answer></Answer></QAPair>
<QAPair pid="2"><Question qid="2" qtype="t">What &amp; how?</Question><Answer>&lt; &#233;</Answer></QAPair>
</QAPairs></Document>`,
    );
    expect(await read([file])).toMatchObject([
      { dropped: { reason: 'no-answer', where: `${file}:2`, detail: 'Why?' } },
      { record: { where: `${file}:3`, question: { text: 'What & how?', answer: '< \u00e9' } } },
    ]);
  });
});

describe('A table', () => {
  test('is read by a map of columns, which may be paths and lists', () => {
    const url = 'https://a.example/x';
    const row = { q: 'Who?', replies: ['Ann', 'Anne'], body: { text: 'Ann did it.' }, link: url };
    const mapped = { question: 'q', answer: 'replies', text: 'body.text', url: 'link' };
    const columns = { ...mapped, keep: ['link'] };
    const asked = { id: '', text: 'Who?', answer: 'Ann', aliases: ['Anne'], relevant: [0] };
    expect(recordOfRow(row, 'f:1', { columns, fetched: false })).toEqual({
      record: {
        where: 'f:1',
        documents: [{ title: '', text: 'Ann did it.', url }],
        question: { ...asked, metadata: { link: url } },
      },
    });
  });

  test('reports cells of the wrong type, and drops rows without question or answer', () => {
    const columns = { question: 'q', answer: 'a' };
    const options = { columns, fetched: false };
    expect(recordOfRow({ q: 'Q', a: { x: 1 } }, 'f:2', options)).toMatchObject({
      problem: { where: 'f:2', text: expect.stringContaining('a is {"x":1}') },
    });
    const dropped = (cells: Record<string, unknown>) => recordOfRow(cells, 'f:3', options);
    expect(dropped({ q: ' ', a: 'A' })).toMatchObject({ dropped: { reason: 'no-question' } });
    expect(dropped({ q: 'Q', a: null })).toMatchObject({ dropped: { reason: 'no-answer' } });
  });

  test('is refused with its column names if the mapped columns are missing', async () => {
    const file = writeBelow(folder, 'rows.jsonl', `${JSON.stringify({ ask: 'Q', reply: 'A' })}\n`);
    const columns = { question: 'question', answer: 'reply' };
    expect(await rejectionOf(read([file], { format: 'records', columns }))).toMatchObject(
      errorOf('CONFIG_INVALID', `${file}:1 has no column question. It has: ask, reply.`),
    );
  });

  test('reports lines that are not JSON with file and line', async () => {
    const file = writeBelow(folder, 'bad.jsonl', '{"text":"a"}\n{"text":\n["b"]\n');
    const items = await read([file], { format: 'records', columns: { text: 'text' } });
    expect(items).toMatchObject([
      { record: { where: `${file}:1` } },
      { problem: { where: `${file}:2` } },
      { problem: { where: `${file}:3`, text: 'is ["b"]; expected an object.' } },
    ]);
  });

  test('is refused by name if it is damaged Parquet', async () => {
    const file = writeBelow(folder, 'bad.parquet', 'PAR1 and no more');
    const reading = read([file], { format: 'records', columns: { text: 't' } });
    expect(await rejectionOf(reading)).toMatchObject(errorOf('DATASET_INVALID', file));
  });
});

describe('A HotpotQA row', () => {
  const asked = { _id: 'h1', question: 'Q?', answer: 'yes', type: 'bridge' };
  const published = {
    ...asked,
    supporting_facts: [['B', 0]],
    context: [
      ['A', ['One. ', 'Two.']],
      ['B', ['Three.']],
    ],
  };
  const onHub = {
    ...published,
    context: { title: ['A', 'B'], sentences: [['One. ', 'Two.'], ['Three.']] },
    supporting_facts: { title: ['B'], sent_id: [0] },
  };

  test('gives the same record from its authors’ file and from the hub', () => {
    expect(recordOfHotpotRow(onHub, 'w')).toEqual(recordOfHotpotRow(published, 'w'));
    expect(recordOfHotpotRow(published, 'w')).toMatchObject({
      record: {
        documents: [
          { title: 'A', text: 'One. Two.' },
          { title: 'B', text: 'Three.' },
        ],
        question: { id: 'h1', relevant: [1], metadata: { type: 'bridge' } },
      },
    });
  });

  test('is a problem in another shape', () => {
    expect(recordOfHotpotRow({ ...published, context: 'A' }, 'w')).toMatchObject({
      problem: { text: expect.stringContaining('context is "A"') },
    });
  });
});

describe('A source', () => {
  test('is recognised by its files and columns', async () => {
    const urls = writeBelow(folder, 'list.txt', '# pages\nhttps://a.example/\n\nnonsense\n');
    const empty = { question: '', answer: '', context: [], supporting_facts: [] };
    const hotpot = writeBelow(folder, 'h.jsonl', JSON.stringify(empty));
    expect(await readers.detectFormat([urls], {})).toBe('urls');
    expect(await readers.detectFormat([hotpot], {})).toBe('hotpotqa');
    expect(await readers.detectFormat([hotpot], { text: 'context' })).toBe('records');
    expect(await read([urls], { format: 'urls', fetched: true })).toMatchObject([
      { record: { where: `${urls}:2` } },
      { dropped: { reason: 'bad-url', where: `${urls}:4` } },
    ]);
  });

  test('is a path or a dataset of the hub, and is refused otherwise', () => {
    const found = findSource(fixture);
    expect(found.kind === 'files' && found.files).toHaveLength(6);
    expect(findSource('lavita/MedQuAD')).toEqual({ kind: 'hub', dataset: 'lavita/MedQuAD' });
    expect(thrownBy(() => findSource('/no/such/file.jsonl')).code).toBe('CONFIG_INVALID');
  });
});

describe('The id of a document', () => {
  test('depends on its address, without scheme and fragment', () => {
    const name = { title: 'T', text: 'x' };
    const first = documentId({ ...name, url: 'http://A.example/p?q=1#top' });
    expect(documentId({ title: '', text: '', url: 'https://a.example:443/p?q=1' })).toBe(first);
    expect(documentId({ ...name, url: 'https://a.example/p?q=2' })).not.toBe(first);
    expect(canonicalUrl('ftp://a.example/')).toBeUndefined();
  });

  test('depends on title and text if it has no address', () => {
    expect(documentId({ title: 'T', text: 'x' })).toBe(documentId({ title: 'T', text: 'x' }));
    expect(documentId({ title: 'T', text: 'x' })).not.toBe(documentId({ title: 'T', text: 'y' }));
  });
});

const server = webServer();
const name = 'acme/questions';

/** A hub that has one dataset: the files by path. */
const hub = (files: Readonly<Record<string, string>>, status = 200): void => {
  server.answer = (request, response) => {
    const address = decodeURIComponent(request.path);
    const prefix = `/datasets/${name}/resolve/${parquetRevision}/`;
    const text = address.startsWith(prefix) ? files[address.slice(prefix.length)] : undefined;
    if (address.startsWith(`/api/datasets/${name}/tree/${parquetRevision}`)) {
      const entries = Object.entries(files).map(([path, { length: size }]) => ({
        type: 'file',
        path,
        size,
        oid: '0',
      }));
      json(status === 200 ? entries : { error: 'no such dataset' }, status)(request, response);
    } else if (text === undefined) {
      response.writeHead(404).end();
    } else {
      // The hub's client asks for one byte first, to learn the size.
      const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
      const [start, end] = [Number(range?.[1] ?? 0), Number(range?.[2] || text.length - 1)];
      const part = { 'content-range': `bytes ${start}-${end}/${text.length}` };
      response.writeHead(range ? 206 : 200, { etag: '"1"', ...(range && part) });
      response.end(text.slice(start, end + 1));
    }
  };
};

const usual = { revision: parquetRevision, cacheDir: folder, print: () => {} };
const fetched = (more: object = {}) => {
  const { signal } = new AbortController();
  return fetchHubDataset(name, { hubUrl: server.origin, signal, ...usual, ...more });
};
const textsOf = (files: readonly string[]) => files.map((file) => readFileSync(file, 'utf8'));

beforeEach(() => {
  server.received.length = 0;
});

describe('A dataset of the hub', () => {
  test('is downloaded once, from the branch that has it as Parquet', async () => {
    hub({ 'default/train/0000.parquet': 'PAR1', 'default/test/0000.parquet': 'PAR2' });
    const files = await fetched();
    expect(textsOf(files)).toEqual(['PAR1', 'PAR2']);
    const downloads = () => server.received.filter(({ path }) => path.includes('/resolve/')).length;
    const before = downloads();
    expect(await fetched()).toEqual(files);
    expect(downloads()).toBe(before);
  });

  test('has its configuration and splits chosen by name', async () => {
    hub({ 'a/train/0.parquet': 'A1', 'a/test/0.parquet': 'A2', 'b/train/0.parquet': 'B' });
    expect(await rejectionOf(fetched())).toMatchObject(errorOf('CONFIG_INVALID', 'a, b'));
    const files = await fetched({ config: 'a', splits: ['test'] });
    expect(textsOf(files)).toEqual(['A2']);
    const problemOf = async (chosen: object) => (await rejectionOf(fetched(chosen))).message;
    expect(await problemOf({ config: 'a', splits: ['x'] })).toContain('"x". It has: train, test.');
    expect(await problemOf({ config: 'c' })).toContain('no configuration "c"');
  });

  test('is asked for with the token', async () => {
    hub({ 'default/train/1.parquet': 'x' });
    await fetched({ accessToken: 'hf_secret' });
    const sent = new Set(server.received.map(({ headers }) => headers['authorization']));
    expect([...sent]).toEqual(['Bearer hf_secret']);
  });

  test('is unavailable if it does not exist or the hub cannot be reached', async () => {
    hub({}, 404);
    expect(await rejectionOf(fetched())).toMatchObject(errorOf('SOURCE_UNAVAILABLE', 'HF_TOKEN'));
    const nowhere = fetched({ hubUrl: 'http://127.0.0.1:1' });
    expect((await rejectionOf(nowhere)).code).toBe('SOURCE_UNAVAILABLE');
  });

  test('leaves nothing behind when a download breaks off', async () => {
    hub({ 'default/train/2.parquet': 'whole' });
    const { answer } = server;
    server.answer = (received, response) => {
      const whole = received.path.includes('/resolve/') && received.headers.range !== 'bytes=0-0';
      if (whole) response.destroy();
      else answer(received, response);
    };
    const broken = await rejectionOf(fetched());
    expect(broken.code).toBe('SOURCE_UNAVAILABLE');
    server.answer = answer;
    expect(textsOf(await fetched())).toEqual(['whole']);
  });
});
