import { describe, expect, test } from '@jest/globals';

import { refusesKey } from '#agent_rl/search/web/web-search.ts';
import { openSearch } from '#agent_rl/tools/search/open-search.ts';
import { SearchTool } from '#agent_rl/tools/search/search-tool.ts';
import { callOf, searching } from '#tests/support/searching.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { type Answer, hang, inTurn, json, webServer } from '#tests/support/web-server.ts';

const secret = 'tvly-secret-0123456789';
const environment = { KEY_OF_TEST: secret };

const server = webServer();

const { settingsOf, searched } = searching(server, environment);

const page = { title: 'Aurel Bridge', url: 'https://a.example/1', text: 'Built by Ina Kost.' };
const shown = '[1] Aurel Bridge (https://a.example/1)\nBuilt by Ina Kost.';

/** Provider, settings, answer, then the request it must make: line, body, headers. */
type ProviderCase = [string, object, Answer, string, unknown, Record<string, string>];
/** What happens, settings, answer, then the kind of failure and the number of requests. */
type FailureCase = [string, object, Answer, string, number];

describe('Each provider gets its own kind of request', () => {
  const { title, url, text } = page;
  const passages = { contentFormat: 'passage', maxLength: 3000 };
  test.each<ProviderCase>([
    [
      'tavily',
      { defaultParams: { search_depth: 'advanced' } },
      json({ results: [{ title, url, content: text, score: 0.9 }] }),
      'POST /search',
      { query: 'who built it?', max_results: 5, search_depth: 'advanced' },
      { authorization: `Bearer ${secret}` },
    ],
    [
      'serper',
      { defaultParams: { gl: 'de' } },
      json({ organic: [{ title, link: url, snippet: text, position: 1 }] }),
      'POST /search',
      { q: 'who built it?', num: 5, gl: 'de' },
      { 'x-api-key': secret },
    ],
    [
      'brave',
      {},
      json({ web: { results: [{ title, url, description: text }] } }),
      'GET /search?q=who+built+it%3F&count=5&text_decorations=false',
      undefined,
      { 'x-subscription-token': secret },
    ],
    [
      'exa',
      {},
      json({ results: [{ title, url, highlights: ['Built by Ina Kost.'], text: 'long' }] }),
      'POST /search',
      { query: 'who built it?', numResults: 5, type: 'auto', contents: { highlights: true } },
      { 'x-api-key': secret },
    ],
    [
      'searxng',
      {},
      json({ results: [{ title, url, content: text, engine: 'x' }] }),
      'GET /search?q=who+built+it%3F&format=json',
      undefined,
      { authorization: `Bearer ${secret}` },
    ],
    [
      'web_iq',
      { defaultParams: { region: 'de' } },
      json({ webResults: [{ title, url, content: text }] }),
      'POST /search',
      { query: 'who built it?', maxResults: 5, ...passages, region: 'de' },
      { 'x-apikey': secret },
    ],
    [
      'custom',
      { apiKeyHeader: 'X-My-Key' },
      json({ results: [{ title, url, text }] }),
      'POST /search',
      { query: 'who built it?', top_k: 5 },
      { 'x-my-key': secret },
    ],
  ])('%s', async (provider, ...[web, answer, line, body, headers]) => {
    const { result } = await searched({ provider, apiKeyEnv: 'KEY_OF_TEST', ...web }, answer);
    expect(result.content).toBe(shown);
    const score = provider === 'tavily' ? 0.9 : 1;
    expect(result.data).toEqual([{ documentId: url, title, text, url, score }]);
    const [request] = server.received;
    expect(`${request?.method} ${request?.path}`).toBe(line);
    expect(request?.body === '' ? undefined : JSON.parse(request?.body ?? '')).toEqual(body);
    expect(request?.headers).toMatchObject(headers);
  });
});

const tavily = { provider: 'tavily', apiKeyEnv: 'KEY_OF_TEST', backoffFactor: 0.01 };
const good = json({ results: [{ title: page.title, url: page.url, content: page.text }] });
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end('{}');

describe('A failed provider becomes text for the model', () => {
  test('a 500 and a broken connection are retried', async () => {
    const breakOff: Answer = (_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"results"');
      setTimeout(() => response.destroy(), 20);
    };
    const { result } = await searched(tavily, inTurn(status(500), breakOff, good));
    expect(result.content).toBe(shown);
    expect(server.received).toHaveLength(3);
    // From the start, and not from where it broke off.
    expect(server.received[2]?.headers).not.toHaveProperty('range');
  });

  test.each<FailureCase>([
    ['a hang up to the deadline', { deadlineS: 0.05 }, hang, 'timeout', 1],
    ['JSON of another shape', {}, json({ results: 'none' }), 'bad-response', 1],
    ['an unexpected status', {}, status(418), 'client-error', 1],
    // It would wait long before the second try.
    ['a long pause', { backoffFactor: 60, deadlineS: 5 }, status(500), 'server-error', 1],
  ])('%s', async (_name, ...[web, answer, failure, requests]) => {
    const { result } = await searched({ ...tavily, ...web }, answer);
    expect(result).toMatchObject({ isError: true, data: { failure } });
    expect(result.content).toMatch(/^Error: the search failed: \S.*\.$/);
    // An attempt that ends early may do so before the server hears of it.
    expect(server.received.length).toBeLessThanOrEqual(requests);
  });

  test('an unreachable server fails as a network failure', async () => {
    const web = { ...tavily, endpoint: 'http://127.0.0.1:1/search' };
    const { result } = await searched(web, good);
    expect(result.data).toEqual({ failure: 'network' });
  });

  test('a compression bomb fails as too large', async () => {
    const { gzipSync } = await import('node:zlib');
    const bomb = gzipSync(Buffer.alloc(8 << 20));
    const { result } = await searched(tavily, (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    expect(result.data).toEqual({ failure: 'too-large' });
  });
});

describe("The user's mistake stops the search", () => {
  test.each([401, 403, 432])('status %i names the key or the plan', async (code) => {
    const error = await rejectionOf(searched(tavily, status(code)));
    expect(error.code).toBe('WEB_REQUEST_DENIED');
    expect(error.message).toContain(String(code));
  });

  test.each([
    ['{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"It is invalid."}}', true],
    ['{"tag":"INVALID_API_KEY"}', true],
    ['{"detail":{"error":"Unauthorized: missing or invalid API key."}}', true],
    ['{"error":{"status":"INVALID_ARGUMENT","message":"API key expired. Renew it."}}', true],
    ['{"message":"Invalid authentication credentials"}', true],
    ['{"error":{"code":"VALIDATION","detail":"count must be at most 20"}}', false],
    ['{"error":"Unexpected token } in JSON, invalid body"}', false],
    ['{"error":"no results for who built it?"}', false],
  ])('a body of status 422 rejects the key: %s %s', async (body, rejects) => {
    const call = searched(tavily, json(JSON.parse(body), 422));
    const came = await call.catch((error: unknown) => error);
    const refused = /answers 422: the key is refused\. Check web\.apiKeyEnv/;
    const told = { result: { data: { failure: 'client-error' } } };
    expect(came).toMatchObject(rejects ? errorOf('WEB_REQUEST_DENIED', refused) : told);
  });

  test('a query that reads like the rejection of a key rejects none', () => {
    expect(refusesKey('{"error":"no hits for invalid api key"}', 'invalid api key')).toBe(false);
  });

  test('a retry counts as a call of the budget, and passes the rate limit with it', async () => {
    const budget = { maxCalls: 1 };
    const error = await rejectionOf(searched({ ...tavily, budget }, status(500)));
    expect(error.code).toBe('WEB_BUDGET_SPENT');
    expect(server.received).toHaveLength(1);
  });

  test('a missing key is named', async () => {
    const error = await rejectionOf(searched({ ...tavily, apiKeyEnv: 'NOT_SET' }, good));
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain('NOT_SET, which is not set');
  });
});

describe('A key', () => {
  test('is hidden where a server repeats it', async () => {
    const echo: Answer = (received, response) => {
      const title = received.headers.authorization;
      json({ results: [{ title, url: 'u', content: secret }] })(received, response);
    };
    const { result } = await searched(tavily, echo);
    expect(JSON.stringify(result)).not.toContain(secret);
    expect(result.content).toBe('[1] Bearer [redacted] (u)\n[redacted]');
  });
});

describe('The query', () => {
  const asked = async (given: object) => {
    server.answer = good;
    server.received.length = 0;
    const settings = settingsOf(tavily);
    const shared = await openSearch(settings, { environment });
    const result = await new SearchTool({ shared, settings }).call(given as never, callOf(0));
    await shared.close();
    return result;
  };

  test.each([
    [' \n\t ', 'Error: the query is empty.'],
    ['x'.repeat(10_000), 'Error: the query has 10000 characters, at most 400 are allowed.'],
  ])('is answered and not sent when it is blank or too long (case %#)', async (query, content) => {
    const result = await asked({ query });
    expect(result).toMatchObject({ content, isError: true, data: { failure: 'bad-query' } });
    expect(server.received).toHaveLength(0);
  });

  test('is the only text of the model that reaches the provider', async () => {
    await asked({ query: 'q', max_results: 99, api_key: 'mine' });
    const sent = { query: 'q', max_results: 5, search_depth: 'basic' };
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual(sent);
  });
});

describe('The result', () => {
  test('has as many hits, as long, as the settings say', async () => {
    const content = 'word '.repeat(100);
    const results = Array.from({ length: 9 }, (_, i) => ({ title: `T${i}`, url: '', content }));
    const more = { topK: 2, maxSnippetChars: 40, showSource: false };
    const { result } = await searched(tavily, json({ results }), more);
    const text = `${'word '.repeat(8).trim()}…`;
    expect(result.content).toBe(`[1] T0\n${text}\n\n[2] T1\n${text}`);
  });

  test('is the direct answer when there are no hits', async () => {
    const { result } = await searched(tavily, json({ results: [], answer: '42' }));
    expect(result.content).toBe('[1] Answer\n42');
  });
});
