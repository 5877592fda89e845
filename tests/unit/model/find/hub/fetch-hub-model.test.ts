import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { fetchHubModel } from '#model/find/hub/fetch-hub-model.ts';
import { freshFolder, temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { json, webServer, type Answer } from '#tests/support/web-server.ts';

const server = webServer();
const commit = 'c'.repeat(40);
const token = 'hf_averysecrettoken';

/** What is on the hub; every other file is kept by Git LFS. */
const bytes = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, i) => (i * 37) % 251));
const plain = {
  'config.json': Buffer.from('{}'),
  'tokenizer.json': Buffer.from('{"t": 1}'),
  'tokenizer_config.json': Buffer.from('{"c": 1}'),
  'README.md': Buffer.from('not needed'),
};
const weights = bytes(300_000);
const whole: Readonly<Record<string, Buffer>> = { ...plain, 'model.safetensors': weights };

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const gitId = (data: Buffer): string =>
  createHash('sha1').update(`blob ${data.length}\0`).update(data).digest('hex');

/** How the hub answers for a file. */
type Resolve = (name: string, ...asked: Parameters<Answer>) => void;

/** Gives a file, or the rest of it that is asked for; the weights break off `times` times `after` some bytes. */
const give = (files: Readonly<Record<string, Buffer>>, { after = 0, times = 0 } = {}): Resolve => {
  let left = times;
  return (name, { headers }, response) => {
    const data = files[name] ?? Buffer.alloc(0);
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const range = { 'content-range': `bytes ${from}-${data.length - 1}/${data.length}` };
    const length = { 'content-length': data.length - from };
    response.writeHead(from === 0 ? 200 : 206, from === 0 ? length : { ...length, ...range });
    if (name === 'model.safetensors' && left > 0) {
      left -= 1;
      response.write(data.subarray(from, from + after), () => response.destroy());
    } else {
      response.end(data.subarray(from));
    }
  };
};

function entryOf(name: string, data: Buffer): object {
  const entry = { type: 'file', path: name, size: data.length, oid: gitId(data) };
  const lfs = { oid: sha256(data), size: data.length, pointerSize: 130 };
  return Object.hasOwn(plain, name) ? entry : { ...entry, lfs };
}

/** A hub with one model, org/name. */
function hub(files: Readonly<Record<string, Buffer>>, resolve = give(files)): Answer {
  return (request, response) => {
    const path = request.path.split('?')[0];
    if (path === '/api/models/org/name/revision/main') {
      const facts = { _id: '1', id: 'org/name', sha: commit, lastModified: '2026-01-01' };
      json(facts)(request, response);
    } else if (path === `/api/models/org/name/tree/${commit}`) {
      const tree = Object.entries(files).map(([name, data]) => entryOf(name, data));
      json(tree)(request, response);
    } else if (path?.startsWith(`/org/name/resolve/${commit}/`) === true) {
      resolve(path.slice(`/org/name/resolve/${commit}/`.length), request, response);
    } else {
      json({ error: 'Repository not found' }, 404)(request, response);
    }
  };
}

const all = temporaryFolder();
let cacheDir = '';
const said: string[] = [];

beforeEach(() => {
  cacheDir = freshFolder(all);
  server.received.length = 0;
  said.length = 0;
});

const fetchModel = (
  environment: NodeJS.ProcessEnv = {},
  name = 'org/name',
  revision = 'main',
  { signal } = new AbortController(),
) => {
  const variables = { HF_ENDPOINT: `${server.origin}/`, ...environment };
  const print = (text: string) => said.push(text);
  return fetchHubModel({ name, revision }, { environment: variables, signal, print, cacheDir });
};

const refused = (...asked: Parameters<typeof fetchModel>) => rejectionOf(fetchModel(...asked));

const model = () => join(cacheDir, 'models--org--name');
const files = (): string[] =>
  server.received
    .filter(({ path }) => path.includes('/resolve/'))
    .map(({ path, headers }) => `${path.split('/').at(-1)} ${headers.range ?? 'whole'}`);

test('a model is downloaded into the layout of the hub’s own cache', async () => {
  server.answer = hub(whole);
  const folder = await fetchModel();
  expect(folder).toBe(join(model(), 'snapshots', commit));
  const { 'README.md': _, ...needed } = whole;
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(needed).toSorted());
  for (const [name, data] of Object.entries(needed))
    expect(readFileSync(join(folder, name)).equals(data)).toBe(true);
  const link = join(folder, 'model.safetensors');
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readlinkSync(link)).toBe(join('..', '..', 'blobs', sha256(weights)));
  expect(readFileSync(join(model(), 'refs', 'main'), 'utf8')).toBe(commit);
  expect(existsSync(join(model(), 'run.lock'))).toBe(false);
  expect(server.received.every(({ headers }) => headers.authorization === undefined)).toBe(true);
});

test('a model in the cache needs no request, by branch or by commit', async () => {
  server.answer = hub(whole);
  const folder = await fetchModel();
  server.received.length = 0;
  expect(await fetchModel({ HF_HUB_OFFLINE: '1' })).toBe(folder);
  expect(await fetchModel({}, 'org/name', commit)).toBe(folder);
  expect(server.received).toEqual([]);
  expect(said.at(-1)).toBe(`Using model org/name (${commit}) from the cache: ${folder}`);
});

test('a large download reports its progress', async () => {
  const large = Buffer.alloc(10_500_000);
  server.answer = hub({ ...plain, 'model.safetensors': large });
  const written: string[] = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text) => written.push(String(text)) > 0;
  try {
    await fetchModel();
  } finally {
    process.stderr.write = write;
  }
  expect(written.length).toBeGreaterThan(1);
  expect(written.length).toBeLessThanOrEqual(21);
  expect(written.at(-1)).toMatch(/^model\.safetensors \(MB\) 11\/11/);
});

test('the shards that an index names are fetched, and no others', async () => {
  const [one, two] = [bytes(10), bytes(20)];
  const old = bytes(5);
  const shards = { 'model-1.safetensors': one, 'model-2.safetensors': two, 'old.safetensors': old };
  const map = { a: 'model-1.safetensors', b: 'model-2.safetensors' };
  const index = Buffer.from(JSON.stringify({ weight_map: map }));
  server.answer = hub({ ...plain, ...shards, 'model.safetensors.index.json': index });
  const folder = await fetchModel();
  expect(existsSync(join(folder, 'model-2.safetensors'))).toBe(true);
  expect(existsSync(join(folder, 'old.safetensors'))).toBe(false);
  // One shard gone: the cache is not whole any more, and that one is fetched.
  rmSync(join(folder, 'model-1.safetensors'));
  rmSync(join(model(), 'blobs', sha256(one)));
  server.received.length = 0;
  await fetchModel();
  expect(files()).toEqual(['model-1.safetensors whole']);
});

describe('A download that is cut off', () => {
  test('continues at the byte where it ended', async () => {
    server.answer = hub(whole, give(whole, { after: 65_536, times: 2 }));
    const folder = await fetchModel();
    expect(readFileSync(join(folder, 'model.safetensors')).equals(weights)).toBe(true);
    const attempts = files().filter((file) => file.startsWith('model.safetensors'));
    expect(attempts).toHaveLength(3);
    expect(attempts[0]).toBe('model.safetensors whole');
    expect(attempts.slice(1).every((attempt) => /bytes=\d+-$/.test(attempt))).toBe(true);
  });

  test('keeps its part for the next start, which resumes it', async () => {
    server.answer = hub(whole, (name, request, response) => {
      if (name === 'model.safetensors' && request.headers.range !== undefined) {
        response.writeHead(503).end();
        return;
      }
      give(whole, { after: 100_000, times: 1 })(name, request, response);
    });
    expect(await refused()).toMatchObject(errorOf('SOURCE_UNAVAILABLE', /status 503.* are kept/));
    const part = join(model(), 'blobs', `${sha256(weights)}.incomplete`);
    const length = readFileSync(part).length;
    expect(length).toBeGreaterThan(0);
    server.received.length = 0;
    server.answer = hub(whole);
    const folder = await fetchModel();
    expect(readFileSync(join(folder, 'model.safetensors')).equals(weights)).toBe(true);
    expect(files()).toEqual([`model.safetensors bytes=${length}-`]);
    expect(existsSync(part)).toBe(false);
  });

  test('starts over if the server does not support ranges', async () => {
    writeBelow(model(), `blobs/${sha256(weights)}.incomplete`, weights.subarray(0, 1000));
    server.answer = hub(whole, (name, request, response) =>
      give(whole)(name, { ...request, headers: {} }, response),
    );
    expect(readFileSync(join(await fetchModel(), 'model.safetensors')).equals(weights)).toBe(true);
  });
});

describe('A file that differs from what the hub lists', () => {
  test.each([
    ['model.safetensors', Buffer.concat([weights.subarray(0, -1), Buffer.of(7)]), 64],
    ['tokenizer.json', Buffer.from('{"t": 2}'), 40],
  ])('is deleted: %s', async (name, changed, digits) => {
    server.answer = hub(whole, give({ ...whole, [name]: changed }));
    const checksums = `checksum [0-9a-f]{${digits}}, expected [0-9a-f]{${digits}}`;
    const message = new RegExp(`${name} from .* has the ${checksums}`);
    expect(await refused()).toMatchObject(errorOf('MODEL_INVALID', message));
    const kept = readdirSync(join(model(), 'blobs'));
    expect(kept.filter((file) => file.endsWith('.incomplete'))).toEqual([]);
    server.answer = hub(whole);
    expect(existsSync(join(await fetchModel(), name))).toBe(true);
  });

  test('is not read beyond its listed size', async () => {
    const longer = Buffer.concat([weights, weights]);
    server.answer = hub(whole, give({ ...whole, 'model.safetensors': longer }));
    expect((await refused()).message).toMatch(/longer than the 300000 bytes that the hub lists/);
  });

  test('is refused if its checksum is not a checksum', async () => {
    server.answer = (request, response) => {
      if (!request.path.includes('/tree/')) return hub(whole)(request, response);
      const entry = (path: string) => ({ type: 'file', path, size: 1, oid: '../../outside' });
      return json([entry('config.json'), entry('model.safetensors')])(request, response);
    };
    expect((await refused()).message).toMatch(/lists no checksum for config\.json/);
  });
});

describe('A model that the hub does not return', () => {
  const closed: Answer = (request, response) => {
    if (request.headers.authorization === `Bearer ${token}`) hub(whole)(request, response);
    else json({ error: 'Invalid username or password.' }, 401)(request, response);
  };
  const nothing = () => hub(whole);

  test.each<[string, () => Answer, Parameters<typeof fetchModel>, RegExp]>([
    ['is private', () => closed, [], /status 401.*private.*set HF_TOKEN/],
    ['is private, and the token wrong', () => closed, [{ HF_TOKEN: 'hf_other' }], /401.*HF_TOKEN/],
    ['is gated', () => json({ error: '' }, 403), [], /403.*conditions on .*\/org\/name/],
    ['is unknown', nothing, [{}, 'org/other'], /status 404.*name of the model/],
    ['has no such revision', nothing, [{}, 'org/name', 'v2'], /status 404.*model\.revision/],
    ['is out of reach', nothing, [{ HF_ENDPOINT: 'http://127.0.0.1:9' }], /127\.0\.0\.1:9 did not/],
  ])('%s', async (_, answer, asked, message) => {
    server.answer = answer();
    const error = await refused(...asked);
    expect(error).toMatchObject(errorOf('SOURCE_UNAVAILABLE', message));
    expect(`${error.message}${String(error.cause)}${said.join()}`).not.toContain('hf_other');
  });

  test('is opened by a token if it is private', async () => {
    server.answer = closed;
    expect(existsSync(await fetchModel({ HF_TOKEN: token }))).toBe(true);
  });

  test.each([
    ['without a token of the hub', { HF_TOKEN: 'my password' }, /HF_TOKEN is not an access token/],
    ['offline', { HF_HUB_OFFLINE: '1' }, /is incomplete in .*HF_HUB_OFFLINE/],
  ])('is not asked for %s', async (_, environment, message) => {
    const error = await refused(environment);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('password');
    expect(server.received).toEqual([]);
  });

  test('has no safetensors, or is being downloaded by another process', async () => {
    server.answer = hub({ ...plain, 'pytorch_model.bin': bytes(5) });
    const message = /has no model\.safetensors; it has: .*pytorch_model\.bin/;
    expect(await refused()).toMatchObject(errorOf('MODEL_INVALID', message));
    writeBelow(model(), 'run.lock', '{"pid": 1, "host": "elsewhere"}');
    expect((await refused()).message).toMatch(/being downloaded by another process/);
  });

  test('is given up if the run is stopped', async () => {
    const controller = new AbortController();
    server.answer = hub(whole, (name, request, response) => {
      if (name === 'model.safetensors') controller.abort();
      else give(whole)(name, request, response);
    });
    expect((await refused({}, 'org/name', 'main', controller)).code).toBe('INTERRUPTED');
  });
});
