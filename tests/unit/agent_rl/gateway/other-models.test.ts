import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { Cleanup } from '#agent_rl/core/stopping/cleanup.ts';
import { answerCall } from '#agent_rl/gateway/doors/answer-call.ts';
import { fetchDoor } from '#agent_rl/gateway/doors/fetch-door.ts';
import { otherModels } from '#agent_rl/gateway/doors/other-models.ts';
import { httpDouble, type HttpDouble } from '#tests/support/http-double.ts';
import { scriptedSession } from '#tests/support/scripted-session.ts';

const key = 'AGENT_RL_TEST_JUDGE_KEY';
const opened = new Cleanup();
let judge: HttpDouble;
let ask: (body: object, path?: string) => Promise<Response>;
let turns: () => number;

beforeAll(async () => {
  process.env[key] = 'a-key-of-the-judge';
  judge = await httpDouble(({ path, body }) => {
    if (path === '/v1/embeddings') return { status: 200, json: { data: [[1, 2]] } };
    if (body['model'] !== 'large') return { status: 404, json: { error: 'no such model' } };
    if (body['stream'] === true)
      return (response) => response.end('data: {"piece":1}\n\ndata: [DONE]\n\n');
    return { status: 200, json: { choices: ['judged'] } };
  });
  const { session } = await scriptedSession(() => '</think>trained');
  const large = { url: `${judge.url}/v1/`, model: 'large', apiKeyEnv: key };
  const missing = { url: `${judge.url}/v1` };
  const others = otherModels({ judge: large, missing }, () => undefined, opened);
  const door = fetchDoor((call) => answerCall(call, session, { unsupported: 'ignore', others }));
  ask = (body, path = 'chat/completions') =>
    door(`http://anywhere/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });
  turns = () => session.tree.nodes.length;
});
afterAll(async () => {
  delete process.env[key];
  await opened.close();
  await judge.close();
});

test('a request for another model reaches its server, with its name there and its key, and is not a turn', async () => {
  const messages = [{ role: 'user', content: 'Is it right?' }];
  const answer = await ask({ model: 'judge', messages });
  expect(await answer.json()).toEqual({ choices: ['judged'] });
  expect(judge.requests.at(-1)).toMatchObject({
    path: '/v1/chat/completions',
    body: { model: 'large', messages },
    headers: { authorization: 'Bearer a-key-of-the-judge' },
  });
  expect(turns()).toBe(0);
});

test('the gateway forwards other addresses and streams of another model', async () => {
  const embedded = await ask({ model: 'judge', input: 'text' }, 'embeddings');
  expect(await embedded.json()).toEqual({ data: [[1, 2]] });
  const streamed = await ask({ model: 'judge', stream: true, messages: [] });
  expect(await streamed.text()).toBe('data: {"piece":1}\n\ndata: [DONE]\n\n');
});

test('an error of another model keeps its status, with the name of the model', async () => {
  const refused = await ask({ model: 'missing', messages: [] });
  expect(refused.status).toBe(404);
  expect(await refused.json()).toMatchObject({
    error: { message: expect.stringContaining('Model "missing" answered 404') },
  });
});

test('a request with any other name is answered by the trained model', async () => {
  const messages = [{ role: 'user', content: 'Who?' }];
  const answer = await (await ask({ model: 'gpt-9', messages })).json();
  expect(answer).toMatchObject({ choices: [{ message: { content: 'trained' } }] });
  expect(turns()).toBe(1);
});

test('a missing key is reported before anything starts', () => {
  const others = { judge: { url: judge.url, apiKeyEnv: 'AGENT_RL_TEST_UNSET' } };
  expect(() => otherModels(others, () => undefined, opened)).toThrow(
    /Model "judge" \(gateway\.others\).*AGENT_RL_TEST_UNSET, which is not set/,
  );
});
