import { gzipSync } from 'node:zlib';

import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { ToolResult } from '#agent_rl/core/plugins/tool.ts';
import { PageReader } from '#agent_rl/search/web/index.ts';
import { OpenPageTool } from '#agent_rl/tools/open-page/open-page-tool.ts';
import { describeToolContract } from '../contracts/tool-contract.ts';
import {
  type Answer,
  drip,
  flood,
  hang,
  html,
  redirect,
  status,
  webServer,
} from '../support/web-server.ts';

const server = webServer();

const defaults = {
  maxContentChars: 4000,
  allowHosts: ['127.0.0.1'],
  proxyChecksAddresses: false,
  timeoutS: 100,
  deadlineS: 100,
  maxRetries: 0,
  backoffFactor: 0,
  maxKiB: 64,
};

interface Opening {
  settings?: object;
  resolve?: (name: string) => Promise<readonly string[]>;
  environment?: Record<string, string>;
}

async function opened(url: string, answer: Answer, opening: Opening = {}): Promise<ToolResult> {
  server.answer = answer;
  server.received.length = 0;
  const { environment = {}, resolve } = opening;
  const settings = { ...defaults, ...opening.settings };
  const reader = new PageReader({
    settings,
    scope: 'open_page',
    environment,
    ...(resolve && { resolve }),
  });
  try {
    return await new OpenPageTool({ shared: reader, settings }).call(
      { url: url.replace('SERVER', server.origin) },
      {
        signal: new AbortController().signal,
        inputs: {},
        idempotencyKey: 'call',
        random: new KeyedRng(1),
      },
    );
  } finally {
    await reader.close();
  }
}

const article = `<html><head><title>The Aurel Bridge</title></head><body>
<nav><a href="/">Home</a> <a href="/x">Menu</a></nav>
<article><h2>History</h2>
<p>The bridge was built by Ina Kost, who had learned her trade on the northern coast.</p>
<p>It opened in <b>1911</b> after nine years of work, and it has been repaired twice since.</p>
</article><script>alert("no")</script><footer>Imprint</footer></body></html>`;

describe('The tool open_page', () => {
  test('returns the readable part of a page', async () => {
    const { content, data } = await opened('SERVER/a#part', html(article));
    expect(content).toBe(
      [
        '# The Aurel Bridge',
        '## History',
        'The bridge was built by Ina Kost, who had learned her trade on the northern coast.',
        'It opened in **1911** after nine years of work, and it has been repaired twice since.',
      ].join('\n\n'),
    );
    expect(data).toMatchObject({ url: `${server.origin}/a`, title: 'The Aurel Bridge' });
  });

  const packed = html(gzipSync('packed'), 'text/plain', { 'content-encoding': 'gzip' });
  test.each<[string, Answer, string]>([
    ['plain text', html('one\ntwo', 'text/plain'), 'one\ntwo'],
    ['JSON', html('{"a":1}', 'application/json'), '{"a":1}'],
    ['UTF-16 with a mark', html(Buffer.from('\uFEFFhé', 'utf16le'), 'text/plain'), 'hé'],
    ['an unrequested gzip encoding', packed, 'packed'],
  ])('returns the text of %s', async (_name, answer, content) => {
    expect(await opened('SERVER/a', answer)).toMatchObject({ content });
  });

  test('follows redirects', async () => {
    const { data } = await opened('SERVER/a', (request, response) => {
      const answer = request.path === '/a' ? redirect('/b') : html('there', 'text/plain');
      answer(request, response);
    });
    expect(data).toMatchObject({ url: `${server.origin}/b`, text: 'there' });
  });
});

test.each<[string, string, Answer, string]>([
  ['a hang', 'SERVER/a', hang, 'timeout'],
  ['a slow drip', 'SERVER/a', drip, 'timeout'],
  ['100 MB', 'SERVER/a', flood(100 << 20, 'text/plain'), 'too-large'],
  ['a picture', 'SERVER/a', html('x', 'image/png'), 'not-text'],
  ['binary data declared as text', 'SERVER/a', html(Buffer.alloc(64), 'text/html'), 'not-text'],
  [
    'text in an encoding other than it declares',
    'SERVER/a',
    html(Buffer.from('\xe9\xe8\xea', 'latin1'), 'text/plain; charset=utf-8'),
    'wrong-encoding',
  ],
  ['404', 'SERVER/a', status(404), 'client-error'],
  ['endless redirects', 'SERVER/a', redirect('/a'), 'redirect'],
  ['a file', 'file:///etc/passwd', hang, 'address-refused'],
  ['a text that is not a URL', 'not a url', hang, 'address-refused'],
  ['a password', 'http://me:pw@a.example/', hang, 'address-refused'],
  ['redirects to a file', 'SERVER/a', redirect('file:///etc/passwd'), 'address-refused'],
])('an error of open_page names the cause: %s', async (_name, url, answer, failure) => {
  const started = performance.now();
  const settings = failure === 'timeout' ? { timeoutS: 0.2 } : {};
  const result = await opened(url, answer, { settings });
  expect(result).toMatchObject({ isError: true, data: { failure } });
  expect(result.content).toMatch(/^Error: the page cannot be opened: \S.*\.$/);
  // Before the 100 s of an attempt.
  expect(performance.now() - started).toBeLessThan(90_000);
});

describe.each(['&nbsp;', '&', '<'])('open_page on 2 MB of %s', (part) => {
  test('ends by the deadline without blocking other work', async () => {
    let beats = 0;
    const heart = setInterval(() => (beats += 1), 50);
    const body = `<p>${part.repeat((2 << 20) / part.length - 4)}`;
    const settings = { maxKiB: 2048, deadlineS: 1.5 };
    const result = await opened('SERVER/a', html(body), { settings });
    clearInterval(heart);
    // Some are read in time, and the others say so.
    const outcome = result.isError === true ? result.data : 'read';
    expect(['read', { failure: 'timeout' }]).toContainEqual(outcome);
    // 30 in 1.5 s; a thread that stood still would hear few of them.
    expect(beats).toBeGreaterThan(5);
    const { content } = await opened('SERVER/a', html(article));
    expect(content).toContain('The bridge was built by Ina Kost');
  });
});

describe('The address guard of open_page', () => {
  const noHosts = { settings: { allowHosts: [] } };

  test.each([
    'SERVER/a',
    'http://localhost:1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
  ])('refuses %s', async (url) => {
    const result = await opened(url, html('secret'), noHosts);
    expect(result.data).toEqual({ failure: 'address-refused' });
    expect(server.received).toHaveLength(0);
  });

  test('refuses a redirect to this machine', async () => {
    const { port } = new URL(server.origin);
    const result = await opened('SERVER/a', redirect(`http://localhost:${port}/secret`));
    expect(result.data).toEqual({ failure: 'address-refused' });
    expect(server.received.map(({ path }) => path)).toEqual(['/a']);
  });

  test('refuses a name whose address changes between check and connection', async () => {
    const { port } = new URL(server.origin);
    let asked = 0;
    const resolve = async () => (asked++ === 0 ? ['1.1.1.1'] : ['127.0.0.1']);
    const result = await opened(`http://a.example:${port}/`, html('secret'), {
      ...noHosts,
      resolve,
    });
    expect(result.data).toEqual({ failure: 'address-refused' });
    expect(asked).toBe(2);
    expect(server.received).toHaveLength(0);
  });

  test('refuses private addresses behind a proxy, whose own address is trusted', async () => {
    const environment = { http_proxy: server.origin };
    const local = await opened('http://10.0.0.1/', html('secret'), { ...noHosts, environment });
    expect(local.data).toEqual({ failure: 'address-refused' });
    const unknown = async (): Promise<never> => {
      throw new Error('ENOTFOUND');
    };
    const hidden = { ...noHosts, environment, resolve: unknown };
    expect((await opened('http://a.example/', html('x'), hidden)).data).toEqual({
      failure: 'network',
    });
    expect(server.received).toHaveLength(0);
    const settings = { allowHosts: [], proxyChecksAddresses: true };
    const trusting = { environment, resolve: unknown, settings };
    const result = await opened('http://a.example/p', html('there', 'text/plain'), trusting);
    expect(result.content).toBe('there');
    expect(server.received[0]?.path).toBe('http://a.example/p');
  });
});

const reader = { read: async (url: string) => readOrRefuse(url), close: async () => {} };
async function readOrRefuse(url: string) {
  const { WebFailure } = await import('#agent_rl/search/web/index.ts');
  if (!url.startsWith('http')) throw new WebFailure('address-refused', 'it is no URL');
  return { url, title: 'T', text: 'text' };
}

describeToolContract('open_page', {
  plugin: OpenPageTool,
  create: () => new OpenPageTool({ shared: reader, settings: defaults }),
  goodArguments: { url: 'https://a.example/' },
  badArguments: { url: 'nonsense' },
});
