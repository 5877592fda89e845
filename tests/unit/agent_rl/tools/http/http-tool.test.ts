import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { choosePlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { loadConfig, validateBlock } from '#agent_rl/config/index.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { ToolResult } from '#agent_rl/core/plugins/tool.ts';
import { configureHttp } from '#agent_rl/tools/http/configure-http.ts';
import { HttpTool } from '#agent_rl/tools/http/http-tool.ts';
import { openHttp } from '#agent_rl/tools/http/open-http.ts';
import { HttpSettings } from '#agent_rl/tools/http/settings.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf, thrownBy } from '#tests/support/thrown.ts';
import { type Answer, flood, json, webServer } from '#tests/support/web-server.ts';

const server = webServer();
const secret = 'w-secret-987654321';
const folder = temporaryFolder();
const environment = { WEATHER_KEY: secret, VERSION: '2' };

const described = {
  name: 'weather',
  description: 'Today’s weather of a city.',
  url: 'SERVER/v1/{city}/now',
  parameters: { city: { type: 'string' }, days: { type: 'integer' } },
  optional: ['days'],
  query: { units: 'metric', days: '{days}' },
  headers: { Authorization: 'Bearer ${WEATHER_KEY}' },
};

const settingsOf = (more: object = {}): HttpSettings => {
  const block = { ...described, ...more };
  const url = block.url.replace('SERVER', server.origin || 'http://127.0.0.1:1');
  return validateBlock(HttpSettings, { ...block, url }, { path: 'tools.0', places: new Map() });
};

async function asked(args: object, answer: Answer, more: object = {}): Promise<ToolResult> {
  server.answer = answer;
  server.received.length = 0;
  const settings = settingsOf(more);
  configureHttp(settings);
  const shared = await openHttp(settings, { environment });
  try {
    const { signal } = new AbortController();
    const context = { signal, inputs: {}, idempotencyKey: 'call', random: new KeyedRng(1) };
    return await new HttpTool({ shared, settings }).call(args, context);
  } finally {
    await shared.close();
  }
}

const line = (): string => `${server.received[0]?.method} ${server.received[0]?.path}`;

describe('An http tool', () => {
  test('sends escaped values, optional ones too, with its secret in the header', async () => {
    const result = await asked({ city: 'São/Paulo?' }, json({ sky: 'clear' }));
    expect(result).toEqual({ content: '{"sky":"clear"}', data: { status: 200 } });
    expect(line()).toBe('GET /v1/S%C3%A3o%2FPaulo%3F/now?units=metric');
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    await asked({ city: 'Bern', days: 3 }, json({}));
    expect(line()).toBe('GET /v1/Bern/now?units=metric&days=3');
  });

  const post = { method: 'POST', url: 'SERVER/v1', query: {} };

  test('sends a JSON body whose values keep their types, with a type that its headers may override', async () => {
    const body = { where: 'city: {city}', days: '{days}', deep: ['{city}', 1] };
    await asked({ city: 'Bern', days: 3 }, json({}), { ...post, body });
    const sent = { where: 'city: Bern', days: 3, deep: ['Bern', 1] };
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual(sent);
    expect(server.received[0]?.headers['content-type']).toBe('application/json');
    const headers = { 'Content-Type': 'application/vnd.api+json' };
    await asked({ city: 'Bern' }, json({}), { ...post, body, headers });
    expect(server.received[0]?.headers['content-type']).toBe('application/vnd.api+json');
  });

  test('sends no type without a body, as after a redirect', async () => {
    await asked({ city: 'Bern' }, json({}));
    expect(server.received[0]?.headers).not.toHaveProperty('content-type');
    const away: Answer = ({ path }, response) => {
      if (path === '/there') response.end('there');
      else response.writeHead(303, { location: '/there' }).end();
    };
    const body = ['{city}', '{days}'];
    expect((await asked({ city: 'Bern' }, away, { ...post, body })).content).toBe('there');
    expect(server.received[1]?.headers).not.toHaveProperty('content-type');
  });

  test('may write its own host in any form', async () => {
    const { port } = new URL(server.origin);
    const url = `http://127.1:${port}/{city}`;
    expect((await asked({ city: 'Bern' }, json('there'), { url })).content).toBe('"there"');
  });

  test('may write the default port', async () => {
    const more = { url: 'http://127.0.0.1:80/{city}', timeoutS: 5, maxRetries: 0 };
    const { data } = await asked({ city: 'Bern' }, json({}), more);
    expect(data).not.toEqual({ failure: 'address-refused' });
  });

  test.each(['..', '.', ''])('refuses %j, which leads elsewhere', async (city) => {
    const content = `Error: city may not be ${JSON.stringify(city)}.`;
    expect(await asked({ city }, json({}))).toMatchObject({ isError: true, content });
    expect(server.received).toHaveLength(0);
  });
});

describe('The result of an http tool', () => {
  const away: Answer = (_, response) =>
    response.writeHead(302, { location: 'http://localhost:1/' }).end();
  const picture: Answer = (_, response) =>
    response.writeHead(200, { 'content-type': 'image/png' }).end('x');

  test.each<[string, Answer, string]>([
    ['a foreign host', away, 'the request failed: localhost:1 is not among allowHosts.'],
    ['a flood', flood(1 << 20), 'the request failed: the answer is longer than 16384 bytes.'],
    ['a status', json({ error: 'no city' }, 404), 'the server answers 404: {"error":"no city"}'],
    ['no text', picture, 'the request failed: the answer is image/png and not text.'],
  ])('reports %s', async (_name, answer, problem) => {
    const content = `Error: ${problem}`;
    const result = await asked({ city: 'Bern' }, answer, { maxKiB: 16 });
    expect(result).toMatchObject({ isError: true, content });
  });

  test('stops the run when the key is rejected', async () => {
    const error = await rejectionOf(asked({ city: 'Bern' }, json({}, 401)));
    expect(error.code).toBe('WEB_REQUEST_DENIED');
  });

  test('stops the start when the key is not set', async () => {
    const headers = { 'X-Key': '${NOT_SET}' };
    const error = await rejectionOf(asked({ city: 'Bern' }, json({}), { headers }));
    expect(error.message).toContain('The header X-Key of tool weather');
  });

  test('never contains the secret, even if the server repeats it', async () => {
    const { content } = await asked({ city: 'Bern' }, ({ headers }, response) => {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(headers.authorization);
    });
    expect(content).toBe('Error: the server answers 400: Bearer [redacted]');
  });

  test('keeps numbers whole when a header value is too short to be a secret', async () => {
    const cassette = { mode: 'record', path: join(folder, 'http.jsonl') };
    const headers = { 'X-Version': '${VERSION}' };
    const { content } = await asked({ city: 'Bern' }, json({ n: 2 }), { headers, cassette });
    expect(content).toBe('{"n":2}');
    expect(server.received[0]?.headers['x-version']).toBe('2');
  });

  test('sends no secret to another origin after a redirect', async () => {
    const { port } = new URL(server.origin);
    const result = await asked(
      { city: 'Bern' },
      ({ path, headers }, response) => {
        if (path === '/there') response.end(String(headers.authorization));
        else response.writeHead(307, { location: `http://localhost:${port}/there` }).end();
      },
      { allowHosts: ['localhost'] },
    );
    expect(result.content).toBe('undefined');
  });
});

describe('The description of an http tool', () => {
  test.each<[string, object, RegExp]>([
    ['an unknown placeholder', { url: 'http://a.example/{town}' }, /\{town\} is not a parameter/],
    ['a parameter that is used nowhere', { query: {} }, /days is not used/],
    ['an optional part of the URL', { optional: ['city'] }, /\{city\} is used in url:/],
    ['no schema', { parameters: { city: { type: 'text' }, days: {} } }, /not a JSON Schema/],
    ['a host of the model’s', { url: 'http://{city}/' }, /allowHosts/],
    ['a password', { url: 'http://me:pw@a.example/{city}' }, /must not contain a password/],
    ['a value that no header may hold', { headers: { 'X-A': 'ü ✓' } }, /header X-A holds "✓"/],
    ['an own header', { headers: { 'Content-Length': '3' } }, /Content-Length is set by the conn/],
    ['a body without POST', { body: {} }, /Set method to POST/],
    ['money without a price', { budget: { maxCost: 1 } }, /budget\.costPerCall/],
  ])('is refused at the start with %s', (_name, more, message) => {
    expect(() => configureHttp(settingsOf(more))).toThrow(message);
  });
});

const head =
  'environment:\n  type: code_exec\ndatasets:\n  - dir: dataset/code_tasks\ntools:\n  - type: code_exec\n';
const runFile = (tools: string): string => writeBelow(folder, 'run.yaml', head + tools);
const tool = (name: string, url = 'https://a.example/{q}'): string =>
  `  - type: http\n    name: ${name}\n    description: Looks something up.\n    url: ${url}\n    parameters:\n      q: { type: string, description: What }\n`;

describe('A run file', () => {
  test('may describe several http tools, each with its own name and schema', () => {
    const loaded = loadConfig({ file: runFile(tool('one') + tool('two')) });
    const { tools } = choosePlugins(loaded, builtinPlugins());
    expect(tools.map(({ entry }) => entry.spec.name)).toEqual(['code_exec', 'one', 'two']);
    expect(JSON.parse(JSON.stringify(tools[1]?.entry.spec.parameters))).toEqual({
      type: 'object',
      properties: { q: { type: 'string', description: 'What' } },
      required: ['q'],
      additionalProperties: false,
    });
  });

  test('must not give two tools the same name', () => {
    const loaded = loadConfig({ file: runFile(tool('one') + tool('one')) });
    const { message } = thrownBy(() => choosePlugins(loaded, builtinPlugins()));
    expect(message).toContain('tools.2.type: duplicate "one"');
  });

  test('reports the place of a wrong description', () => {
    const loaded = loadConfig({ file: runFile(tool('one', 'https://a.example/{x}')) });
    const { message } = thrownBy(() => choosePlugins(loaded, builtinPlugins()));
    expect(message).toMatch(/run\.yaml:7:\d+ tools\.1: \{x\} is not a parameter\. .*: q\./);
  });
});
