import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { openDispatcher, proxiesOf } from '#agent_rl/search/web/connection/open-dispatcher.ts';
import { unlimited } from '#agent_rl/search/web/rate-limit.ts';
import { WebClient } from '#agent_rl/search/web/web-client.ts';
import { hasOpenssl, selfSigned } from '../support/self-signed.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { rejectionOf, thrownBy } from '../support/thrown.ts';

const folder = temporaryFolder();
const withOpenssl = hasOpenssl ? describe : describe.skip;

const patience = { timeoutS: 100, deadlineS: 100, maxRetries: 0, backoffFactor: 0, maxBytes: 4096 };

async function got(url: string, options: { caFile?: string; environment?: object }) {
  const environment = { ...options.environment };
  const dispatcher = openDispatcher({ connections: 2, ...options, environment });
  const client = new WebClient(dispatcher, unlimited, patience);
  try {
    const request = { url: new URL(url), method: 'GET' as const };
    return (await client.send(request, new AbortController().signal)).body.toString();
  } finally {
    await client.close();
  }
}

withOpenssl('https with an authority of one’s own', () => {
  const caFile = join(folder, 'cert.pem');
  let server: Server;
  let proxy: Server;
  const tunnels: string[] = [];
  const port = (of: Server): number => (of.address() as AddressInfo).port;

  beforeAll(async () => {
    const files = selfSigned(folder);
    const pair = { key: readFileSync(files.key), cert: readFileSync(files.cert) };
    server = createServer(pair, (_, response) => response.end('safe')).listen(0, '127.0.0.1');
    const tunnel = createHttpServer();
    tunnel.on('connect', ({ url = '' }: { url?: string }, socket: Socket) => {
      tunnels.push(url);
      const onward = connect(port(server), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      onward.on('error', () => socket.destroy());
      socket.on('error', () => onward.destroy());
    });
    proxy = tunnel.listen(0, '127.0.0.1');
    await Promise.all([once(server, 'listening'), once(proxy, 'listening')]);
  });
  afterAll(() => {
    server.close();
    proxy.close();
  });

  test('a certificate authority is trusted only when its file is named', async () => {
    const url = `https://127.0.0.1:${port(server)}/`;
    expect(await got(url, { caFile })).toBe('safe');
    expect(await rejectionOf(got(url, {}))).toMatchObject({ kind: 'network' });
  });

  test('a request goes through HTTPS_PROXY unless NO_PROXY names the host', async () => {
    const url = `https://localhost:${port(server)}/`;
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${port(proxy)}` };
    expect(await got(url, { caFile, environment })).toBe('safe');
    expect(tunnels).toEqual([`localhost:${port(server)}`]);
    const direct = { ...environment, NO_PROXY: '127.0.0.1' };
    expect(await got(url.replace('localhost', '127.0.0.1'), { caFile, environment: direct })).toBe(
      'safe',
    );
    expect(tunnels).toHaveLength(1);
  });
});

test.each<[string, () => object]>([
  ['a missing file', () => ({ caFile: join(folder, 'none.pem') })],
  ['a file that is not a certificate', () => ({ caFile: writeBelow(folder, 'x.pem', 'x') })],
  ['a proxy that is not a URL', () => ({ environment: { HTTPS_PROXY: 'not a url' } })],
])('an unusable network setting is reported at the start: %s', (_name, options) => {
  const open = () => openDispatcher({ connections: 1, environment: {}, ...options() });
  expect(thrownBy(open).code).toBe('CONFIG_INVALID');
});

test('lower-case proxy variables take precedence over upper-case ones', () => {
  expect(proxiesOf({ http_proxy: 'a', HTTP_PROXY: 'b', NO_PROXY: 'c' })).toEqual({
    http: 'a',
    https: 'a',
    none: 'c',
  });
  expect(proxiesOf({})).toEqual({ http: '', https: '', none: '' });
});
