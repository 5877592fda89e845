import { readFileSync } from 'node:fs';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { fetchHubDataset, parquetRevision } from '#dataset/prepare/hub-dataset.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { json, webServer } from '#tests/support/web-server.ts';

const cacheDir = temporaryFolder();
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

const usual = { revision: parquetRevision, cacheDir, print: () => {} };
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
    const sent = server.received.map(({ headers }) => headers['authorization']);
    expect(new Set(sent)).toEqual(new Set(['Bearer hf_secret']));
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
