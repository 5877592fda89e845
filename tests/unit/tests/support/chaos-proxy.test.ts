import { expect, test } from '@jest/globals';

import { type Fault, startChaosProxy } from '#tests/support/chaos-proxy.ts';
import { httpDouble } from '#tests/support/http-double.ts';

const answer = { text: 'x'.repeat(1000) };

/** The result of a request, and how often the server received it. */
async function through(fault: Fault) {
  const server = await httpDouble(() => ({ status: 200, json: answer }));
  const proxy = await startChaosProxy({ target: server.url, faultOf: () => fault, delayMs: 50 });
  try {
    const began = performance.now();
    const body = JSON.stringify({ asked: 1 });
    const headers = { 'content-type': 'application/json' };
    const got = await fetch(`${proxy.url}/some?a=1`, { method: 'POST', body, headers })
      .then((response) => response.json())
      .catch(() => 'broken');
    return { got, heard: server.requests, ms: performance.now() - began, counts: proxy.counts };
  } finally {
    await proxy.close();
    await server.close();
  }
}

test('an undisturbed request passes with its path and body', async () => {
  const { got, heard, counts } = await through('none');
  expect(got).toEqual(answer);
  expect(heard).toMatchObject([{ method: 'POST', path: '/some?a=1', body: { asked: 1 } }]);
  expect(counts).toEqual({ none: 1, refuse: 0, lose: 0, cut: 0, delay: 0 });
});

test('the server does not receive a refused request', async () => {
  const { got, heard } = await through('refuse');
  expect([got, heard.length]).toEqual(['broken', 0]);
});

test.each(['lose', 'cut'] as const)(
  'the fault %s drops the answer of the server',
  async (fault) => {
    const { got, heard } = await through(fault);
    expect([got, heard.length]).toEqual(['broken', 1]);
  },
);

test('a delayed answer arrives complete', async () => {
  const { got, ms } = await through('delay');
  expect(got).toEqual(answer);
  expect(ms).toBeGreaterThanOrEqual(49);
});

test('a stopped server breaks the connection, and another one can replace it', async () => {
  const gone = await httpDouble(() => ({ status: 200, json: answer }));
  const proxy = await startChaosProxy({ target: gone.url, faultOf: () => 'none' });
  await gone.close();
  await expect(fetch(proxy.url)).rejects.toThrow('fetch failed');
  const other = await httpDouble(() => ({ status: 200, json: answer }));
  proxy.aim(other.url);
  expect((await fetch(proxy.url)).status).toBe(200);
  await proxy.close();
  await other.close();
});
