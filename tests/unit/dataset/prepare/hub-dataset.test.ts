import { existsSync, readFileSync } from 'node:fs';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { fetchHubDataset, parquetRevision } from '#dataset/prepare/hub-dataset.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { webServer } from '#tests/support/web-server.ts';

const cacheDir = temporaryFolder();
const server = webServer();
const name = 'acme/questions';

/** A hub that has one dataset: the files by path. */
const hub = (files: Readonly<Record<string, string>>, status = 200): void => {
  server.answer = ({ path, headers }, response) => {
    const address = decodeURIComponent(path);
    if (address.startsWith(`/api/datasets/${name}/tree/${parquetRevision}`)) {
      response.writeHead(status, { 'content-type': 'application/json' });
      const entries = Object.entries(files).map(([file, text]) => ({
        type: 'file',
        path: file,
        size: text.length,
        oid: '0',
      }));
      response.end(JSON.stringify(status === 200 ? entries : { error: 'no such dataset' }));
      return;
    }
    const prefix = `/datasets/${name}/resolve/${parquetRevision}/`;
    const text = address.startsWith(prefix) ? files[address.slice(prefix.length)] : undefined;
    if (text === undefined) {
      response.writeHead(404).end();
      return;
    }
    // The hub's client asks for one byte first, to learn the size.
    const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '');
    const [start, end] = [Number(range?.[1] ?? 0), Number(range?.[2] || text.length - 1)];
    response.writeHead(range === null ? 200 : 206, {
      etag: '"1"',
      ...(range === null ? {} : { 'content-range': `bytes ${start}-${end}/${text.length}` }),
    });
    response.end(text.slice(start, end + 1));
  };
};

const options = (more: object = {}) => ({
  hubUrl: server.origin,
  revision: parquetRevision,
  cacheDir,
  signal: new AbortController().signal,
  print: () => {},
  ...more,
});

beforeEach(() => {
  server.received.length = 0;
});

describe('A dataset of the hub', () => {
  test('is downloaded once, from the branch that has it as Parquet', async () => {
    hub({ 'default/train/0000.parquet': 'PAR1', 'default/test/0000.parquet': 'PAR2' });
    const files = await fetchHubDataset(name, options());
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['PAR1', 'PAR2']);
    const downloads = () => server.received.filter(({ path }) => path.includes('/resolve/')).length;
    const before = downloads();
    expect(await fetchHubDataset(name, options())).toEqual(files);
    expect(downloads()).toBe(before);
  });

  test('has its configuration and splits chosen by name', async () => {
    hub({ 'a/train/0.parquet': 'A1', 'a/test/0.parquet': 'A2', 'b/train/0.parquet': 'B' });
    expect(await rejectionOf(fetchHubDataset(name, options()))).toMatchObject(
      errorOf('CONFIG_INVALID', 'a, b'),
    );
    const files = await fetchHubDataset(name, options({ config: 'a', splits: ['test'] }));
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['A2']);
    const problemOf = async (chosen: object) =>
      (await rejectionOf(fetchHubDataset(name, options(chosen)))).message;
    expect(await problemOf({ config: 'a', splits: ['x'] })).toContain('"x". It has: train, test.');
    expect(await problemOf({ config: 'c' })).toContain('no configuration "c"');
  });

  test('is asked for with the token', async () => {
    hub({ 'default/train/1.parquet': 'x' });
    await fetchHubDataset(name, options({ accessToken: 'hf_secret' }));
    const sent = server.received.map(({ headers }) => headers['authorization']);
    expect(new Set(sent)).toEqual(new Set(['Bearer hf_secret']));
  });

  test('is unavailable if it does not exist or the hub cannot be reached', async () => {
    hub({}, 404);
    expect(await rejectionOf(fetchHubDataset(name, options()))).toMatchObject(
      errorOf('SOURCE_UNAVAILABLE', 'HF_TOKEN'),
    );
    const nowhere = options({ hubUrl: 'http://127.0.0.1:1' });
    expect((await rejectionOf(fetchHubDataset(name, nowhere))).code).toBe('SOURCE_UNAVAILABLE');
  });

  test('leaves nothing behind when a download breaks off', async () => {
    hub({ 'default/train/2.parquet': 'whole' });
    const { answer } = server;
    server.answer = (received, response) => {
      const whole = received.path.includes('/resolve/') && received.headers.range !== 'bytes=0-0';
      if (whole) response.destroy();
      else answer(received, response);
    };
    const broken = await rejectionOf(fetchHubDataset(name, options()));
    expect(broken.code).toBe('SOURCE_UNAVAILABLE');
    server.answer = answer;
    const [file = ''] = await fetchHubDataset(name, options());
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('whole');
  });
});
