import { expect, test } from '@jest/globals';

import { type Fault, startChaosProxy } from '#tests/support/chaos-proxy.ts';
import { httpDouble } from '#tests/support/http-double.ts';

const answer = { text: 'x'.repeat(1000) };
const double = () => httpDouble(() => ({ status: 200, json: answer }));

test.each<[Fault, unknown, number]>([
  ['none', answer, 1],
  ['refuse', 'broken', 0],
  ['lose', 'broken', 1],
  ['cut', 'broken', 1],
  ['delay', answer, 1],
])('the fault %s answers %j after %i requests', async (fault, said, times) => {
  const server = await double();
  const proxy = await startChaosProxy({ target: server.url, faultOf: () => fault, delayMs: 50 });
  const began = performance.now();
  const headers = { 'content-type': 'application/json' };
  const asked = { method: 'POST', body: JSON.stringify({ asked: 1 }), headers };
  const got = await fetch(`${proxy.url}/some?a=1`, asked)
    .then((response) => response.json())
    .catch(() => 'broken');
  expect(got).toEqual(said);
  const heard = { method: 'POST', path: '/some?a=1', body: { asked: 1 } };
  expect(server.requests).toMatchObject(Array.from({ length: times }, () => heard));
  expect(proxy.counts).toEqual({ none: 0, refuse: 0, lose: 0, cut: 0, delay: 0, [fault]: 1 });
  expect(performance.now() - began).toBeGreaterThanOrEqual(fault === 'delay' ? 49 : 0);
  await proxy.close();
  await server.close();
});

test('a stopped server breaks the connection, and another one can replace it', async () => {
  const [gone, other] = [await double(), await double()];
  const proxy = await startChaosProxy({ target: gone.url, faultOf: () => 'none' });
  await gone.close();
  await expect(fetch(proxy.url)).rejects.toThrow('fetch failed');
  proxy.aim(other.url);
  expect((await fetch(proxy.url)).status).toBe(200);
  await proxy.close();
  await other.close();
});
