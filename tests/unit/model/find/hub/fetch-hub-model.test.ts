import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { fetchHubModel } from '#model/find/hub/fetch-hub-model.ts';
import type { AgentRlError } from '#agent_rl/core/errors.ts';
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

/** Gives a file, or the rest of it that is asked for. */
const give =
  (files: Readonly<Record<string, Buffer>>): Resolve =>
  (name, { headers }, response) => {
    const data = files[name] ?? Buffer.alloc(0);
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const range = { 'content-range': `bytes ${from}-${data.length - 1}/${data.length}` };
    response.writeHead(from === 0 ? 200 : 206, from === 0 ? {} : range);
    response.end(data.subarray(from));
  };

/** Ends the connection after so many bytes of the weights, so many times. */
function cut(after: number, times: number, files = whole): Resolve {
  let left = times;
  return (name, request, response) => {
    if (name !== 'model.safetensors' || left === 0) {
      give(files)(name, request, response);
      return;
    }
    left -= 1;
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const length = weights.length - from;
    const range = { 'content-range': `bytes ${from}-${weights.length - 1}/${weights.length}` };
    response.writeHead(from === 0 ? 200 : 206, { 'content-length': length, ...range });
    response.write(weights.subarray(from, from + after), () => response.destroy());
  };
}

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
      json({ _id: '1', id: 'org/name', sha: commit, lastModified: '2026-01-01' })(
        request,
        response,
      );
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

let cacheDir = '';
const said: string[] = [];

beforeEach(() => {
  cacheDir = mkdtempSync(join(tmpdir(), 'hub-'));
  server.received.length = 0;
  said.length = 0;
});

afterEach(() => {
  rmSync(cacheDir, { recursive: true });
});

const fetchModel = (environment: NodeJS.ProcessEnv = {}, name = 'org/name', revision = 'main') =>
  fetchHubModel(
    { name, revision },
    {
      environment: { HF_ENDPOINT: `${server.origin}/`, ...environment },
      signal: new AbortController().signal,
      print: (text) => said.push(text),
      cacheDir,
    },
  );

const failure = async (attempt: Promise<unknown>): Promise<AgentRlError> =>
  attempt.then(
    () => {
      throw new Error('It did not fail.');
    },
    (error: unknown) => error as AgentRlError,
  );

const model = () => join(cacheDir, 'models--org--name');
const files = (): string[] =>
  server.received
    .filter(({ path }) => path.includes('/resolve/'))
    .map(({ path, headers }) => `${path.split('/').at(-1)} ${headers.range ?? 'whole'}`);

test('downloads what a model needs into the layout of the hub’s own cache', async () => {
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

test('sends no request for a model that is in the cache, by branch or by commit', async () => {
  server.answer = hub(whole);
  const folder = await fetchModel();
  server.received.length = 0;
  expect(await fetchModel({ HF_HUB_OFFLINE: '1' })).toBe(folder);
  expect(await fetchModel({}, 'org/name', commit)).toBe(folder);
  expect(server.received).toEqual([]);
  expect(said.at(-1)).toBe(`Model org/name (${commit}) from the cache: ${folder}`);
});

test('says how far a large file is', async () => {
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

test('fetches the shards an index names, and no others', async () => {
  const shards = {
    'model-1.safetensors': bytes(10),
    'model-2.safetensors': bytes(20),
    'old.safetensors': bytes(5),
  };
  const map = { a: 'model-1.safetensors', b: 'model-2.safetensors' };
  const index = Buffer.from(JSON.stringify({ weight_map: map }));
  server.answer = hub({ ...plain, ...shards, 'model.safetensors.index.json': index });
  const folder = await fetchModel();
  expect(existsSync(join(folder, 'model-2.safetensors'))).toBe(true);
  expect(existsSync(join(folder, 'old.safetensors'))).toBe(false);
  // One shard gone: the cache is not whole any more, and that one is fetched.
  rmSync(join(folder, 'model-1.safetensors'));
  rmSync(join(model(), 'blobs', sha256(shards['model-1.safetensors'])));
  server.received.length = 0;
  await fetchModel();
  expect(files()).toEqual(['model-1.safetensors whole']);
});

describe('a connection that is cut', () => {
  test('is taken up again at the byte it ended at', async () => {
    server.answer = hub(whole, cut(65_536, 2));
    const folder = await fetchModel();
    expect(readFileSync(join(folder, 'model.safetensors')).equals(weights)).toBe(true);
    const attempts = files().filter((file) => file.startsWith('model.safetensors'));
    expect(attempts).toHaveLength(3);
    expect(attempts[0]).toBe('model.safetensors whole');
    expect(attempts.slice(1).every((attempt) => /bytes=\d+-$/.test(attempt))).toBe(true);
  });

  test('leaves its part for the next start, which resumes it', async () => {
    server.answer = hub(whole, (name, request, response) => {
      if (name === 'model.safetensors' && request.headers.range !== undefined) {
        response.writeHead(503).end();
        return;
      }
      cut(100_000, 1)(name, request, response);
    });
    const error = await failure(fetchModel());
    expect(error.code).toBe('SOURCE_UNAVAILABLE');
    expect(error.message).toMatch(/status 503\. What was downloaded is kept: try again/);
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

  test('starts over where the server does not support ranges', async () => {
    mkdirSync(join(model(), 'blobs'), { recursive: true });
    writeFileSync(
      join(model(), 'blobs', `${sha256(weights)}.incomplete`),
      weights.subarray(0, 1000),
    );
    server.answer = hub(whole, (name, request, response) =>
      give(whole)(name, { ...request, headers: {} }, response),
    );
    const folder = await fetchModel();
    expect(readFileSync(join(folder, 'model.safetensors')).equals(weights)).toBe(true);
  });
});

describe('what is not what the hub lists', () => {
  test.each([
    ['model.safetensors', Buffer.concat([weights.subarray(0, -1), Buffer.of(7)]), 64],
    ['tokenizer.json', Buffer.from('{"t": 2}'), 40],
  ])('is deleted: %s', async (name, changed, digits) => {
    server.answer = hub(whole, give({ ...whole, [name]: changed }));
    const error = await failure(fetchModel());
    expect(error.code).toBe('MODEL_INVALID');
    expect(error.message).toMatch(
      new RegExp(
        `${name} from .* has the checksum [0-9a-f]{${digits}}, expected [0-9a-f]{${digits}}`,
      ),
    );
    const kept = readdirSync(join(model(), 'blobs'));
    expect(kept.filter((file) => file.endsWith('.incomplete'))).toEqual([]);
    server.answer = hub(whole);
    expect(existsSync(join(await fetchModel(), name))).toBe(true);
  });

  test('is not read beyond the size listed', async () => {
    const longer = Buffer.concat([weights, weights]);
    server.answer = hub(whole, give({ ...whole, 'model.safetensors': longer }));
    const error = await failure(fetchModel());
    expect(error.message).toMatch(/longer than the 300000 bytes that the hub lists/);
  });

  test('is refused where a checksum is not one', async () => {
    server.answer = (request, response) => {
      if (!request.path.includes('/tree/')) return hub(whole)(request, response);
      const entry = (path: string) => ({ type: 'file', path, size: 1, oid: '../../outside' });
      return json([entry('config.json'), entry('model.safetensors')])(request, response);
    };
    expect((await failure(fetchModel())).message).toMatch(/gives no checksum of config\.json/);
  });
});

describe('a model the hub does not give', () => {
  const closed: Answer = (request, response) => {
    if (request.headers.authorization === `Bearer ${token}`) hub(whole)(request, response);
    else json({ error: 'Invalid username or password.' }, 401)(request, response);
  };

  test('is private: the error says how to name a token', async () => {
    server.answer = closed;
    const error = await failure(fetchModel());
    expect(error.code).toBe('SOURCE_UNAVAILABLE');
    expect(error.message).toMatch(
      /status 401\. The model does not exist or is private.*set HF_TOKEN/,
    );
  });

  test('is private: a token opens it, and another is refused without being shown', async () => {
    server.answer = closed;
    expect(existsSync(await fetchModel({ HF_TOKEN: token }))).toBe(true);
    rmSync(model(), { recursive: true });
    const error = await failure(fetchModel({ HF_TOKEN: 'hf_anothersecret' }));
    expect(error.message).toMatch(/status 401\. The token in HF_TOKEN is not accepted/);
    expect(`${error.message}${String(error.cause)}${said.join()}`).not.toContain('anothersecret');
  });

  test('is asked for with what is not a token: it is not sent and not shown', async () => {
    const error = await failure(fetchModel({ HF_TOKEN: 'my password' }));
    expect(error.message).toMatch(/HF_TOKEN is not an access token/);
    expect(error.message).not.toContain('password');
    expect(server.received).toEqual([]);
  });

  test('is gated: the error says where its conditions are', async () => {
    server.answer = json({ error: 'gated' }, 403);
    expect((await failure(fetchModel())).message).toMatch(
      /status 403.*accept the conditions on .*\/org\/name/,
    );
  });

  test('is unknown, or its revision is', async () => {
    server.answer = hub(whole);
    for (const asked of [
      ['org/other', 'main'],
      ['org/name', 'v2'],
    ] as const) {
      const error = await failure(fetchModel({}, ...asked));
      expect(error.code).toBe('SOURCE_UNAVAILABLE');
      expect(error.message).toMatch(/status 404\. Check its name and model\.revision/);
    }
  });

  test('is out of reach', async () => {
    const error = await failure(fetchModel({ HF_ENDPOINT: 'http://127.0.0.1:9' }));
    expect(error.code).toBe('SOURCE_UNAVAILABLE');
    expect(error.message).toMatch(/127\.0\.0\.1:9 did not return the model org\/name/);
  });

  test('is not asked for offline', async () => {
    const error = await failure(fetchModel({ HF_HUB_OFFLINE: '1' }));
    expect(error.message).toMatch(/is incomplete in .*HF_HUB_OFFLINE forbids downloads/);
    expect(server.received).toEqual([]);
  });

  test('has no safetensors', async () => {
    server.answer = hub({ ...plain, 'pytorch_model.bin': bytes(5) });
    const error = await failure(fetchModel());
    expect(error.code).toBe('MODEL_INVALID');
    expect(error.message).toMatch(/has no model\.safetensors; it has: .*pytorch_model\.bin/);
  });

  test('is being downloaded by another process', async () => {
    mkdirSync(model(), { recursive: true });
    writeFileSync(join(model(), 'run.lock'), '{"pid": 1, "host": "elsewhere"}');
    expect((await failure(fetchModel())).message).toMatch(/being downloaded by another process/);
  });

  test('is given up when the run is stopped', async () => {
    const controller = new AbortController();
    server.answer = hub(whole, (name, request, response) => {
      if (name === 'model.safetensors') controller.abort();
      else give(whole)(name, request, response);
    });
    const attempt = fetchHubModel(
      { name: 'org/name', revision: 'main' },
      {
        environment: { HF_ENDPOINT: server.origin },
        signal: controller.signal,
        print: () => undefined,
        cacheDir,
      },
    );
    expect((await failure(attempt)).code).toBe('INTERRUPTED');
  });
});
