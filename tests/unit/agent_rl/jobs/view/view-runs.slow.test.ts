import { readFileSync } from 'node:fs';
import { type OutgoingHttpHeaders, request as ask } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { episodeEvent, record, recordedFolder } from '#tests/support/recorded-folder.ts';
import { errorOf, expectRejection, rejectionOf } from '#tests/support/thrown.ts';
import { twoViewedRuns, type Viewer } from './two-viewed-runs.ts';

const { folder, runs, page, hostile, viewer } = twoViewedRuns();

let view: Viewer;

beforeAll(async () => {
  view = await viewer();
});

afterAll(() => view.stop());

interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** A request as any program can make it, with whatever headers and path. */
const asked = (
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: OutgoingHttpHeaders } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = view.url;
    const sent = ask({ host: hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.on('error', reject).end();
  });

const authorised = (): { authorization: string } => ({ authorization: `Bearer ${view.token}` });
const answered = async (path: string): Promise<unknown> => {
  const { status, text } = await asked(path, { headers: authorised() });
  expect({ status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as unknown;
};

describe('The server', () => {
  test.each([{}, { authorization: 'Bearer wrong' }])(
    'refuses a request without the token in its headers: %j',
    async (headers) => {
      for (const path of ['/api/runs', '/api/runs/one', '/api/events', '/api/nothing']) {
        const answer = await asked(`${path}?token=${view.token}`, { headers });
        expect(answer.status).toBe(401);
      }
    },
  );

  test.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example', '169.254.1.1', '@'])(
    'refuses a request to the host %j, with or without the token',
    async (host) => {
      for (const path of ['/', '/page.js', '/api/runs']) {
        const answer = await asked(path, { headers: { ...authorised(), host } });
        expect(answer.status).toBe(403);
      }
    },
  );

  test.each(['127.0.0.1:1', 'localhost', 'LOCALHOST:8080', '[::1]:7'])(
    'answers a request to the host %s, as through a tunnel',
    async (host) => {
      const headers = { ...authorised(), host, origin: `http://${host}` };
      expect(await asked('/api/runs', { headers })).toMatchObject({ status: 200 });
    },
  );

  test.each([
    [{ origin: 'http://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'http://127.0.0.1:1' }],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
    [{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
  ])('refuses a page of another site, even with the token: %j', async (headers) => {
    const given = { headers: { ...authorised(), ...headers } };
    const { status, headers: sent } = await asked('/api/runs', given);
    expect(status).toBe(403);
    expect(Object.keys(sent).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'])('refuses %s', async (method) => {
    for (const path of ['/', '/api/runs'])
      expect(await asked(path, { method, headers: authorised() })).toMatchObject({ status: 405 });
  });

  test.each([
    '/../package.json',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/page.js/../../secret',
    '/api/runs/..',
    '/api/runs/%2e%2e%2f%2e%2e%2fetc',
    '/api/runs/one/episodes/../../../../etc/passwd',
    '/api/runs/one/episodes/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '/api/runs/one/files/config.yaml',
    '/__proto__',
    '/constructor',
  ])('serves no file outside the page: %s', async (path) => {
    const { status } = await asked(path, { headers: authorised() });
    expect([400, 404]).toContain(status);
  });
});

test.each(['/', '/page.js', '/page.css', '/api/runs', '/api/nothing', '/?token=wrong'])(
  'forbids in each answer what the page does not need: %s',
  async (path) => {
    for (const headers of [{}, authorised(), { host: 'evil.example' }]) {
      const { headers: sent } = await asked(path, { headers });
      expect(sent).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
      });
    }
  },
);

test.each([
  ['/', 'page.html', 'text/html; charset=utf-8'],
  ['/page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['/page.css', 'page.css', 'text/css; charset=utf-8'],
])('serves %s without data, as %s of the type %s', async (path, file, type) => {
  const { headers, text } = await asked(path);
  expect(text).toBe(readFileSync(join(page, file), 'utf8'));
  expect(headers['content-type']).toBe(type);
});

test('shows the token in the one address that it prints and nowhere else', async () => {
  await asked('/api/runs?token=wrong');
  const text = view.printed.join('\n');
  expect(text.split(view.token)).toHaveLength(2);
  expect(text).toContain(`View: ${view.url.href}`);
  expect(view.token).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

describe('The API', () => {
  test.each([
    [
      '/api/runs',
      [
        { id: 'one', name: 'one', iteration: 1, plannedIterations: 4 },
        { id: 'two__b_', name: 'two <b>', seed: 8 },
      ],
    ],
    ['/api/runs/one', { head: { id: 'one' }, sessions: [] }],
    ['/api/runs/one/tasks', [{ taskId: hostile }]],
    ['/api/runs/one/metrics?after=0', { iterations: [1], columns: { 'train/loss': [1] } }],
    [
      '/api/compare?a=one&b=two__b_',
      { a: 'one', b: 'two__b_', rows: [{ path: 'run.seed', a: 7, b: 8 }], inputs: [] },
    ],
  ])('answers %s, with names that are safe in an address', async (path, expected) => {
    expect(await answered(path)).toMatchObject(expected);
  });

  test('shows episodes and their tasks as text in JSON', async () => {
    const listed = (await answered('/api/runs/one/episodes')) as {
      rows: { id: string; question: string }[];
    };
    expect(listed).toMatchObject({ total: 1, matching: 1, index: { ready: true } });
    const [row] = listed.rows;
    expect(row?.question).toBe(hostile);
    const path = `/api/runs/one/episodes/${row?.id}`;
    const { headers, text } = await asked(path, { headers: authorised() });
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(text)).toMatchObject({ row, record: { messages: [{ content: hostile }] } });
    expect(await answered(`/api/tasks/${encodeURIComponent(hostile)}`)).toMatchObject({
      taskId: hostile,
      runs: [{ run: 'one', rows: [row] }, { run: 'two__b_' }],
    });
  });

  test.each([
    ['/api/runs/three', 404, 'Run not found.'],
    ['/api/runs/one/episodes/train/9/x/0', 404, 'Episode not found.'],
    ['/api/runs/one/episodes?sort=x', 400, /^sort is "x"; expected one of/],
    ['/api/runs/one/metrics?after=x', 400, 'after is "x"; expected a number.'],
    ['/api/tasks/%E0%A4%A', 400, /percent-encoded/],
    ['/api/compare?a=one', 404, 'Run not found.'],
    ['/api/other', 404, 'Not Found'],
  ])('explains a mistake: %s', async (path, status, error) => {
    const answer = await asked(path, { headers: authorised() });
    expect(answer.status).toBe(status);
    expect((JSON.parse(answer.text) as { error: string }).error).toMatch(error);
  });
});

describe('The event stream', () => {
  type Event = Readonly<Record<string, unknown>>;
  const opened = ({ url, token }: Viewer, signal?: AbortSignal) =>
    fetch(new URL('/api/events', url), {
      headers: { authorization: `Bearer ${token}` },
      ...(signal && { signal }),
    });

  /** Reads events of a viewer until one is as wanted. */
  async function until(live: Viewer, wanted: (event: Event) => boolean, act?: () => void) {
    const stop = new AbortController();
    const response = await opened(live, stop.signal);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    act?.();
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = [...text.matchAll(/^data: (.*)\n\n/gm)].map(
        ([, data = '']) => JSON.parse(data) as Event,
      );
      if (!events.some(wanted)) continue;
      stop.abort();
      return events;
    }
    throw new Error(`The events ended: ${text}`);
  }

  test('sends every run first, and then what grows, to all listeners', async () => {
    const third = recordedFolder(runs, 'three');
    const live = await viewer({ runs: [third.path] });
    const episode = episodeEvent({ iteration: 1, taskId: 'new' });
    const grow = () => void setTimeout(50).then(() => record(third, episode));
    const grown = (event: Event) => (event['episodes'] as { train: number }).train === 1;
    const [heard, alsoHeard] = await Promise.all([
      until(live, grown, grow),
      // Of a file that is being read there is an event before all of it is.
      until(live, (event) => grown(event) && (event['index'] as { ready: boolean }).ready),
    ]);
    expect(heard[0]).toMatchObject({ run: 'three', iteration: 0, episodes: { train: 0, eval: 0 } });
    expect(alsoHeard.at(-1)).toMatchObject({ run: 'three', episodes: { train: 1, eval: 0 } });
    expect(await live.stop()).toMatchObject({ runs: [third.path] });
  });

  test('ends with the server', async () => {
    const live = await viewer();
    const read = (await opened(live)).text();
    await live.stop();
    expect(await read).toContain('"run":"one"');
  });
});

describe('The address', () => {
  test('is refused where its port is in use, and for folders without a run', async () => {
    const refused = viewer({ port: Number(view.url.port) });
    await expectRejection(refused, 'CONFIG_INVALID', /Choose another with --port\.$/);
    expect(await rejectionOf(viewer({ runs: [page] }))).toMatchObject(
      errorOf('CHECKPOINT_INVALID', 'is not a run folder: it has no config.yaml'),
    );
  });

  test('is another host only when asked, with a warning', async () => {
    const open = await viewer({ host: '0.0.0.0' });
    expect(open.printed.join('\n')).toMatch(/anyone who has this address and its token can read/);
    expect(open.printed.join('\n')).not.toContain('0.0.0.0');
    expect(open.printed.at(-1)).toMatch(/^(View: http:\S+\?token=\S+\n){2,}Stop with Ctrl-C\.$/);
    await open.stop();
  });

  test('has a free port where the usual one is in use, with a note', async () => {
    const taken = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      taken.once('error', () => resolve(false)).listen(7410, '127.0.0.1', () => resolve(true));
    });
    const other = await viewer({ port: undefined } as object);
    expect(other.url.port).not.toBe('7410');
    expect(other.printed[0]).toBe('Note: port 7410 is in use; choose another with --port.');
    await other.stop();
    if (isFree) taken.close();
  });

  test('shows that the page is not built, as the start does', async () => {
    const without = await viewer({ page: join(folder, 'nowhere') });
    expect(without.printed[0]).toMatch(/^Note: The page is not built: .* Run npm run build/);
    const response = await fetch(without.url);
    expect(response.status).toBe(503);
    expect(await response.text()).toMatch(/Run npm run build/);
    await without.stop();
  });
});
