import { expect, test } from '@jest/globals';

import { HttpClient } from '#agent_rl/http/http-client.ts';
import { httpDouble } from '#tests/support/http-double.ts';

test('what is said of repeated requests leaves their queries out, which may hold signatures', async () => {
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
