import { afterEach, expect, test } from '@jest/globals';

import { ServedGenerator } from '#agent_rl/generation/served/served-generator.ts';
import { HttpClient } from '#agent_rl/http/http-client.ts';
import { request } from '#tests/support/generation-request.ts';
import { gigabyte, slowBody } from '#tests/support/hostile-answers.ts';
import { type DoubleAnswer, type HttpDouble, httpDouble } from '#tests/support/http-double.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

let server: HttpDouble | undefined;
afterEach(() => server?.close());

test.each<[string, DoubleAnswer, RegExp]>([
  ['is longer than 16 tokens can be', gigabyte, /its answer is longer than 1114304 bytes/],
  ['comes too slowly', slowBody, /arrives too slowly/],
])('an answer that %s fails at once, with a reason', async (_, answer, words) => {
  server = await httpDouble(({ path }) =>
    path.endsWith('/generate') ? answer : { status: 200, json: {} },
  );
  const { url } = server;
  const said: string[] = [];
  const warn = (text: string) => void said.push(text);
  const http = new HttpClient({ url, connections: 1, pauseMs: 1, bodyGraceS: 0.2, onRetry: warn });
  const info = {
    protocol: 1,
    name: 'double',
    maxContextTokens: 64,
    vocabSize: 10,
    text: '',
    requests: 1,
    acceptsWeights: false,
    packs: false,
  };
  const generator = new ServedGenerator({ http, url, deadlineS: 60, patienceS: 60, info, warn });
  const failure = await rejectionOf(
    generator.generate(request('one', { maxTokens: 16, stopTokens: [7] })),
  );
  expect(failure).toMatchObject({ code: 'GENERATION_FAILED' });
  expect(failure.message).toMatch(words);
  expect(said).toEqual([expect.stringMatching(words)]);
  expect(server.requests.filter(({ path }) => path.endsWith('/generate'))).toHaveLength(1);
  await generator.close();
});
