import { createServer, type IncomingMessage } from 'node:http';

import { describe, expect, test } from '@jest/globals';

import { environments } from '#agent_rl/core/plugins/environment.ts';
import { NemoGymEnv } from '#agent_rl/environments/nemo-gym/nemo-gym-env.ts';
import { listen, urlOf } from '#agent_rl/http/listen.ts';
import { closedAfterEach } from '../support/closed-after-each.ts';
import { counterRow, nemoGymEpisodes } from '../support/nemo-gym-episodes.ts';
import { says, type Script } from '../support/scripted-policy.ts';

const opened = closedAfterEach();

interface Asked {
  path: string;
  body: Record<string, unknown>;
  cookie: string | undefined;
}
type Answers = (asked: Asked) => { status?: number; body: object; cookie?: string | undefined };

const schemas = {
  Count: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
};
const post = (schema: object) => ({
  post: { summary: 'Add', requestBody: { content: { 'application/json': { schema } } } },
});
const openApi = {
  paths: {
    '/seed_session': post({}),
    '/verify': post({}),
    '/add': post({ $ref: '#/components/schemas/Count' }),
    '/about': { get: {} },
  },
  components: { schemas },
};

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text || '{}') as Record<string, unknown>;
}

/** A resources server that answers as a test wants. */
async function gymDouble(answers: Answers, document: object = openApi) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { url: path = '', headers } = request;
      if (path === '/openapi.json') return response.end(JSON.stringify(document));
      const one = { path, body, cookie: headers.cookie };
      asked.push(one);
      const { status = 200, body: said, cookie } = answers(one);
      const setting = cookie === undefined ? {} : { 'set-cookie': `${cookie}; path=/; httponly` };
      return response.writeHead(status, setting).end(JSON.stringify(said));
    });
  });
  await listen(server, { host: '127.0.0.1', port: 0, code: 'CONFIG_INVALID', what: 'A double' });
  opened.push({ close: async () => void server.close() });
  return { url: urlOf(server), asked };
}

/** Keeps a counter in its cookie. */
const counting: Answers = ({ path, body, cookie }) => {
  const count = Number(/n=(\d+)/.exec(cookie ?? '')?.[1] ?? 0);
  if (path === '/seed_session') return { body: {}, cookie: `n=${Number(body['initial_count'])}` };
  if (path === '/add') return { body: { ok: true }, cookie: `n=${count + Number(body['count'])}` };
  return { body: { ...body, reward: count === body['expected_count'] ? 1 : 0 } };
};
const script: Script = ({ key: { turn } }) => ({
  message: turn === 0 ? says('I add.', ['add', { count: 3 }]) : says('Done.'),
});

async function at(answers: Answers, document?: object) {
  const double = await gymDouble(answers, document);
  const gym = await nemoGymEpisodes(double.url);
  opened.push(gym);
  return { ...double, ...gym };
}

describe('A resources server of NeMo Gym', () => {
  test('is seeded with the row, keeps its session in a cookie, and judges what was said and called', async () => {
    const { episode, asked, tools } = await at(counting);
    expect(tools).toMatchObject([
      { of: 'add', description: 'Add', parameters: schemas.Count, keepsState: true },
    ]);
    const { episode: played } = await episode({ script }, counterRow);
    // At solvedAt, 1 by default.
    expect(played).toMatchObject({ reward: 1, success: true, outcome: 'completed' });
    expect(asked.map(({ path, cookie }) => [path, cookie])).toEqual([
      ['/seed_session', undefined],
      ['/add', 'n=3'],
      ['/verify', 'n=6'],
    ]);
    expect(asked[2]?.body).toMatchObject({
      expected_count: 6,
      response: {
        output: [
          { type: 'function_call', name: 'add', arguments: '{"count":3}', call_id: 'call_0_0' },
          { type: 'function_call_output', call_id: 'call_0_0', output: '{"ok":true}' },
          { type: 'message', content: [{ type: 'output_text', text: 'I add.' }] },
          { type: 'message', content: [{ type: 'output_text', text: 'Done.' }] },
        ],
      },
    });
  });

  test.each<[string, Answers, RegExp]>([
    [
      'sets no cookie',
      ({ path }) => ({ body: { path } }),
      /\/seed_session set no cookie, without which the server would judge a new session/,
    ],
    [
      'gives no reward',
      (asked) => (asked.path === '/verify' ? { body: {} } : counting(asked)),
      /\/verify answered 200 .*expected a reward/,
    ],
    [
      'fails',
      (asked) => (asked.path === '/verify' ? { status: 500, body: {} } : counting(asked)),
      /\/verify failed with status 500/,
    ],
    [
      'fails in a call',
      (asked) => (asked.path === '/add' ? { status: 503, body: {} } : counting(asked)),
      /\/add failed with status 503/,
    ],
  ])('leaves the episode without a reward where it %s', async (_, answers, words) => {
    const { episode } = await at(answers);
    const { rollout } = await episode({ script, limits: { retries: 2 } }, counterRow);
    expect(['infrastructure-error', 'grader-error']).toContain(rollout.outcome);
    expect(rollout.problem).toMatch(words);
  });

  test('answers wrong arguments for the policy to read', async () => {
    const refusing: Answers = (asked) =>
      asked.path === '/add' ? { status: 422, body: { detail: 'too much' } } : counting(asked);
    const { episode } = await at(refusing);
    const { episode: played } = await episode({ script }, counterRow);
    expect(played.calls[0]).toMatchObject({
      status: 'error',
      result: { content: '{"detail":"too much"}' },
    });
    expect(played.reward).toBe(0);
  });

  test.each([
    [counterRow, /^fine$/],
    [{ responses_create_params: { input: 'add' } }, /^fine$/],
    [{ responses_create_params: { input: [{ role: 'user', content: [] }] } }, /neither text nor/],
    [{}, /neither text nor a list of messages with text/],
  ])('has tasks with a prompt: %j', (reset, problem) => {
    const { taskProblem } = environments.specOf(NemoGymEnv)!;
    const found = taskProblem!({ taskId: 'a', prompt: '', metadata: { reset } }, {});
    expect(found ?? 'fine').toMatch(problem);
  });

  test('is recognised by its routes', async () => {
    const double = await gymDouble(counting, { paths: { '/add': {} } });
    await expect(nemoGymEpisodes(double.url)).rejects.toThrow(
      /without \/seed_session and \/verify\. Set url/,
    );
  });
});
