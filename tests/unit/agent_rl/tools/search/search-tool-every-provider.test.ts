import { describe, expect, test } from '@jest/globals';

import { searching } from '#tests/support/searching.ts';
import { drip, flood, hang, inTurn, json, webServer } from '#tests/support/web-server.ts';
import type { Answer } from '#tests/support/web-server.ts';

const server = webServer();
const { searched } = searching(server, { KEY_OF_TEST: 'secret-0123456789' });

const providers = ['tavily', 'serper', 'brave', 'exa', 'searxng', 'web_iq', 'custom'];

const deadlineS = 60;
const common = { apiKeyEnv: 'KEY_OF_TEST', deadlineS, backoffFactor: 0.01 };
const settingsOf = (provider: string, more: object) => ({ ...common, provider, ...more });

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end('{}');
/** Where it leads is looked up when it is asked: the server has its port only then. */
const redirect: Answer = (request, response) =>
  status(302, { location: `${server.origin}/inner` })(request, response);

/** What happens, settings, answer, then the kind of failure and the most requests. */
type Case = [string, object, Answer, string, number];

describe.each(providers)('%s', (provider) => {
  test('retries a 429 after Retry-After, unless the pause exceeds the deadline', async () => {
    // Its own pause would be far beyond the deadline.
    const settings = settingsOf(provider, { backoffFactor: 60, deadlineS: 59 });
    const again = status(429, { 'retry-after': '0' });
    const { result } = await searched(settings, inTurn(again, json({})));
    expect(result).toEqual({ content: 'No results.', data: [] });
    expect(server.received).toHaveLength(2);
  });

  test.each<Case>([
    ['a 429 for an hour', {}, status(429, { 'retry-after': '3600' }), 'rate-limited', 1],
    ['500 again and again', {}, status(500), 'server-error', 3],
    ['a hang', { timeoutS: 0.02, maxRetries: 1 }, hang, 'timeout', 2],
    ['a slow drip', { timeoutS: 0.05, maxRetries: 0 }, drip, 'timeout', 1],
    ['broken JSON', {}, (_, response) => response.end('{"results": ['), 'bad-response', 1],
    ['JSON that is no answer', {}, json('no'), 'bad-response', 1],
    ['a body of 100 MB', {}, flood(100 << 20), 'too-large', 1],
    ['a redirect to 127.0.0.1', {}, redirect, 'redirect', 1],
  ])(
    'reports %s as text for the model, in time',
    async (_name, ...[more, answer, failure, requests]) => {
      const { result, seconds } = await searched(settingsOf(provider, more), answer);
      expect(result).toMatchObject({ isError: true, data: { failure } });
      expect(result.content).toMatch(/^Error: the search failed: \S.*\.$/);
      expect(server.received.length).toBeLessThanOrEqual(requests);
      expect(server.received.map(({ path }) => path)).not.toContain('/inner');
      expect(seconds).toBeLessThan(deadlineS);
    },
  );
});
