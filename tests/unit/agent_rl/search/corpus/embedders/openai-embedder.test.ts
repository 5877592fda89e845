import { describe, expect, test } from '@jest/globals';

import { openOpenAiEmbedder } from '#agent_rl/search/corpus/embedders/openai-embedder.ts';
import type { OpenAiSettings } from '#agent_rl/search/corpus/settings.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { type GotRequest, httpDouble } from '#tests/support/http-double.ts';
import { errorOf, rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const open = closedAfterEach();

/** A server with scripted answers that records its requests. */
async function serve(answer: Parameters<typeof httpDouble>[0]) {
  const server = await httpDouble(answer);
  open.push(server);
  const own = { type: 'openai', baseUrl: `${server.url}/v1`, model: 'm' } as const;
  const settings = (more: Partial<OpenAiSettings> = {}): OpenAiSettings => ({ ...own, ...more });
  return { asked: server.requests, settings };
}

function opened(settings: OpenAiSettings) {
  const embedder = openOpenAiEmbedder(settings);
  open.push(embedder);
  return embedder;
}

/** Vectors (length of the text, 1), last text first: the index says which is whose. */
const wellBehaved = ({ body }: GotRequest) => {
  const texts = body['input'] as readonly string[];
  const data = texts.map((text, index) => ({ index, embedding: [text.length, 1] }));
  return { status: 200, json: { data: data.toReversed() } };
};

describe('The embedder of an OpenAI server', () => {
  test('sends batches with prefixes, and orders and scales the vectors', async () => {
    const { asked, settings } = await serve(wellBehaved);
    const embedder = opened(settings({ queryPrefix: 'q: ' }));
    const texts = ['', 'aa', 'a', ...Array.from({ length: 30 }, () => 'b')];
    const vectors = await embedder.embed(texts, 'query');
    expect(asked.map(({ path }) => path)).toEqual(['/v1/embeddings', '/v1/embeddings']);
    const first32 = texts.slice(0, 32).map((text) => `q: ${text}`);
    expect(asked.map(({ body }) => body['input'])).toEqual([first32, ['q: b']]);
    expect(asked[0]?.body['model']).toBe('m');
    expect(asked[0]?.headers.authorization).toBeUndefined();
    // (3, 1) / sqrt(10), (5, 1) / sqrt(26), (4, 1) / sqrt(17)
    const first = vectors.slice(0, 3).map((vector) => Number((vector[0] ?? 0).toFixed(4)));
    expect(first).toEqual([0.9487, 0.9806, 0.9701]);
  });

  test('sends the key of the variable, which must be set', async () => {
    const { asked, settings } = await serve(wellBehaved);
    process.env['S2_TEST_KEY'] = 'sk-1234567';
    const embedder = opened(settings({ apiKeyEnv: 'S2_TEST_KEY' }));
    await embedder.embed(['a'], 'passage');
    delete process.env['S2_TEST_KEY'];
    expect(asked[0]?.headers.authorization).toBe('Bearer sk-1234567');
    const error = thrownBy(() => opened(settings({ apiKeyEnv: 'S2_TEST_KEY' })));
    expect(error.code).toBe('EMBEDDER_UNAVAILABLE');
  });

  test('hides a key that the server repeats, whatever its variable', async () => {
    // The key stands across the place where an answer is cut.
    const { settings } = await serve(({ headers: { authorization: key } }) => (response) => {
      response.writeHead(401).end(`bad ${key} ${'.'.repeat(262)} ${key}`);
    });
    process.env['S2_TEST_EMB'] = 'emb-secret-123';
    const embedder = opened(settings({ apiKeyEnv: 'S2_TEST_EMB' }));
    const { message } = await rejectionOf(embedder.embed(['a'], 'passage'));
    delete process.env['S2_TEST_EMB'];
    expect(message).toContain('answered 401: bad Bearer [redacted] ...');
    expect(message).not.toContain('emb-');
  });

  test('retries after 503 and 429, but not after 400', async () => {
    const { asked, settings } = await serve((one, count) => {
      if (count > 2) return wellBehaved(one);
      return (response) =>
        response.writeHead(count === 1 ? 503 : 429, { 'retry-after': '0' }).end('busy');
    });
    const embedder = opened(settings());
    expect(await embedder.embed(['a'], 'query')).toHaveLength(1);
    expect(asked).toHaveLength(3);

    const refusing = await serve(() => (response) => response.writeHead(400).end('no such model'));
    const other = opened(refusing.settings());
    const error = await rejectionOf(other.embed(['a'], 'query'));
    expect(error).toMatchObject(errorOf('EMBEDDING_FAILED', 'answered 400: no such model'));
    expect(refusing.asked).toHaveLength(1);
  });

  test.each([
    ['text', 'not JSON'],
    ['too few vectors', '{"data": []}'],
    ['vectors of two widths', '{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}'],
    ['words for numbers', '{"data": [{"embedding": ["1"]}, {"embedding": ["1"]}]}'],
    ['a vector of zeros', '{"data": [{"embedding": [0, 0]}, {"embedding": [1, 2]}]}'],
    ['one twice', '{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}'],
  ])('fails when the server returns %s', async (_, text) => {
    const { settings } = await serve(() => (response) => response.end(text));
    const embedder = opened(settings());
    const error = await rejectionOf(embedder.embed(['a', 'b'], 'query'));
    expect(error.code).toBe('EMBEDDING_FAILED');
  });

  test('fails in time when the server is silent or unreachable', async () => {
    const { settings } = await serve(() => undefined);
    for (const more of [{ timeoutS: 0.2 }, { baseUrl: 'http://127.0.0.1:9/v1' }]) {
      const embedder = opened(settings({ ...more, maxRetries: 0 }));
      const { code } = await rejectionOf(embedder.embed(['a'], 'query'));
      expect(code).toBe('EMBEDDING_FAILED');
    }
  });

  test('stops waiting when the caller aborts', async () => {
    const { settings } = await serve(() => undefined);
    const embedder = opened(settings());
    const caller = new AbortController();
    const reason = new Error('too late');
    const vectors = embedder.embed(['a'], 'query', caller.signal);
    caller.abort(reason);
    await expect(vectors).rejects.toBe(reason);
  });
});
