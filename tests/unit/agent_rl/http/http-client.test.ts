import { expect, test } from '@jest/globals';

import { EndlessAnswer, HttpClient, type HttpClientOptions } from '#agent_rl/http/http-client.ts';
import { gigabyte, slowBody } from '#tests/support/hostile-answers.ts';
import { type DoubleAnswer, httpDouble } from '#tests/support/http-double.ts';

test('retry messages leave out query strings, which may contain signatures', async () => {
  const server = await httpDouble((_, count) =>
    count === 1 ? { status: 503, json: {} } : { status: 200, json: { there: true } },
  );
  const said: string[] = [];
  const http = new HttpClient({
    url: server.url,
    connections: 1,
    pauseMs: 1,
    onRetry: (text) => said.push(text),
  });
  const request = {
    method: 'GET',
    path: '/file?Signature=abc',
    deadlineS: 10,
    again: true,
  } as const;
  expect((await http.send(request)).json).toEqual({ there: true });
  expect(said).toEqual([`GET ${server.url}/file took 2 tries.`]);
  await http.close();
  await server.close();
});

const asked = async (
  answer: DoubleAnswer,
  options: Partial<HttpClientOptions>,
  mostAnswerBytes?: number,
) => {
  const server = await httpDouble(() => answer);
  const http = new HttpClient({
    url: server.url,
    connections: 1,
    pauseMs: 1,
    onRetry: () => undefined,
    ...options,
  });
  const limits = mostAnswerBytes === undefined ? {} : { mostAnswerBytes };
  const request = { method: 'POST', path: '/', deadlineS: 20, again: true, ...limits } as const;
  const got = await http.send(request).catch((thrown: unknown) => thrown);
  await http.close();
  await server.close();
  return { got, requests: server.requests.length };
};
const text = (length: number) => ({ status: 200, json: 'x'.repeat(length) });

test.each<[string, Partial<HttpClientOptions>, number | undefined]>([
  ['of the client', { mostAnswerBytes: 1000 }, undefined],
  ['of the request', {}, 1000],
  ['of the client, where a request allows more', { mostAnswerBytes: 1000 }, 2000],
])('an answer fails at the limit %s, without a retry', async (_, options, own) => {
  expect((await asked(text(998), options, own)).got).toMatchObject({ json: 'x'.repeat(998) });
  for (const answer of [text(999), gigabyte]) {
    const { got, requests } = await asked(answer, options, own);
    expect(got).toBeInstanceOf(EndlessAnswer);
    expect(String(got)).toMatch(/failed: its answer is longer than 1000 bytes/);
    expect(requests).toBe(1);
  }
});

test('an answer fails long before the deadline when it arrives too slowly', async () => {
  const began = performance.now();
  const { got, requests } = await asked(slowBody, { bodyGraceS: 0.2 });
  expect(got).toBeInstanceOf(EndlessAnswer);
  expect(String(got)).toMatch(/arrives too slowly, \d+ bytes in \d s/);
  expect(requests).toBe(1);
  expect(performance.now() - began).toBeLessThan(10_000);
});

test('an answer may be preceded by white space while the client waits', async () => {
  const patient: DoubleAnswer = (response) => {
    response.writeHead(200).write('\n');
    const timer = setInterval(() => response.write('\n'), 20);
    setTimeout(() => {
      clearInterval(timer);
      response.end('{"there": true}');
    }, 1000);
  };
  expect((await asked(patient, { bodyGraceS: 0.1 })).got).toMatchObject({
    json: { there: true },
  });
});
