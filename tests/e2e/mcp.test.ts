import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { tools } from '#agent_rl/core/plugins/tool.ts';
import { Value } from '#agent_rl/core/typebox.ts';
import { McpPool } from '#agent_rl/tools/mcp/mcp-pool.ts';
import { McpTools } from '#agent_rl/tools/mcp/mcp-tools.ts';
import { McpSettings } from '#agent_rl/tools/mcp/settings.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import { loopbackService } from '#tests/support/loopback-service.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const server = join(packageRoot(), 'tests', 'fixtures', 'mcp', 'server.mjs');
const command = [process.execPath, server];
const opened = closedAfterEach();

const settingsOf = (over: object = {}): McpSettings =>
  Value.Default(McpSettings, { name: 'double', command, warm: 1, ...over }) as McpSettings;

const { find } = tools.specOf(McpTools)!;
const environment = { ...process.env, TEST_MCP_NAMED: 'a value', TEST_MCP_OTHER: 'another' };
const found = (over: object = {}, warn?: (text: string) => void) =>
  find!(settingsOf(over), { environment, ...(warn && { warn }) });

/** Episodes with a server. */
function episodes(over: object = {}) {
  const settings = settingsOf(over);
  const shared = new McpPool(settings, { environment });
  opened.push(shared);
  return { shared, episode: () => new McpTools({ shared, settings }) };
}

const { signal } = new AbortController();
let calls = 0;
const context = (of: string) => {
  calls += 1;
  return { of, signal, inputs: {}, idempotencyKey: 'key', random: new KeyedRng('call', calls) };
};
const called = async (tool: McpTools, of: string, args: object = {}) =>
  (await tool.call(args, context(of))).content;

describe('An MCP server', () => {
  test('offers its tools in the order of their names, without one that runs as a task, which is said', async () => {
    const warned: string[] = [];
    const all = await found({}, (text) => warned.push(text));
    const names = ['count', 'die', 'flood', 'get_sum', 'never', 'slow', 'throws', 'variables'];
    expect(all.map(({ name }) => name)).toEqual(names);
    expect(all.find(({ of }) => of === 'getSum')).toMatchObject({
      description: 'Adds two numbers.',
      parameters: { type: 'object', required: ['a', 'b'] },
      onInterrupt: 'repeat',
    });
    expect(all.find(({ of }) => of === 'count')).toMatchObject({ onInterrupt: 'fail' });
    expect(warned).toEqual(['The tool "task" of double is left out: it only runs as a task.']);
  });

  test('offers the tools that are allowed, and an unknown one is refused with the others', async () => {
    expect((await found({ allow: ['getSum'] })).map(({ of }) => of)).toEqual(['getSum']);
    await expect(found({ allow: ['sum'] })).rejects.toThrow(
      /^double has no tool "sum" \(allow\)\. Tools: count, die, /,
    );
    await expect(found({ allow: ['task'] })).rejects.toThrow(/only runs as a task/);
  });

  test('fails the run where it ends at once, with what it wrote', async () => {
    const program = 'process.stderr.write("no license"); process.exit(3)';
    const ends = found({ command: [process.execPath, '-e', program] });
    await expect(ends).rejects.toThrow(/^The MCP server double .* cannot be used: .*no license/s);
  });
});

const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('it did not fail'),
    (thrown: Error) => thrown,
  );

/** A server over HTTP that answers calls with a result, or with a status. @returns its address */
async function mcpOverHttp(answer: (call: { name: string }) => object | number): Promise<string> {
  const serverInfo = { name: 'double', version: '1' };
  const http = await loopbackService(async ({ bytes }) => {
    const { id, method, params } = JSON.parse(bytes.toString() || '{}') as {
      id?: number;
      method?: string;
      params: { name: string };
    };
    if (id === undefined) return { status: 202, type: 'text/plain', body: Buffer.from('') };
    const begun = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
    const result = method === 'tools/call' ? answer(params) : begun;
    if (typeof result === 'number')
      return { status: result, type: 'text/plain', body: Buffer.from('busy') };
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result }));
    return { status: 200, type: 'application/json', body };
  });
  opened.push(http);
  return `${http.url}/mcp`;
}

describe('A server in trouble', () => {
  test('fails after connectS, and the next call of the episode tries again', async () => {
    const there = join(folder, 'there');
    const late = `if (require('fs').existsSync(${JSON.stringify(there)})) import(${JSON.stringify(server)}); else setInterval(() => {}, 1000);`;
    const { episode } = episodes({ command: [process.execPath, '-e', late], connectS: 1, warm: 1 });
    const one = episode();
    await expect(called(one, 'count')).rejects.toThrow(/cannot be used: .*timed out/i);
    writeFileSync(there, '');
    expect(await called(one, 'count')).toBe('1');
    await one.close();
  });

  test.each([
    [503, 'TransientError', /^The MCP server double failed: .*busy/],
    [401, 'AgentRlError', /^The MCP server double failed: .*busy/],
  ])('fails a call over HTTP by the status %i', async (status, name, words) => {
    const http = await mcpOverHttp(() => status);
    const one = episodes({ command: undefined, url: http, warm: 0 }).episode();
    const thrown = await failureOf(called(one, 'count'));
    expect([thrown.name, thrown.message]).toEqual([name, expect.stringMatching(words)]);
    await one.close();
  });

  test('has an answer of more than 10 MB over HTTP refused, and answers the next call', async () => {
    const long = 'x'.repeat(11e6);
    const http = await mcpOverHttp(({ name }) => ({
      content: [{ type: 'text', text: name === 'flood' ? long : 'short' }],
    }));
    const one = episodes({ command: undefined, url: http, warm: 0 }).episode();
    expect(await called(one, 'flood')).toBe('Error: its answer is longer than 10 MB.');
    expect(await called(one, 'other')).toBe('short');
    await one.close();
  });

  test('is quoted without the values that it was given', async () => {
    const program = 'process.stderr.write("key " + process.env.TEST_MCP_NAMED); process.exit(3)';
    const ends = found({ command: [process.execPath, '-e', program], env: ['TEST_MCP_NAMED'] });
    const { message } = await failureOf(Promise.resolve(ends));
    expect(message).toContain('It wrote: key ');
    expect(message).not.toContain('a value');
  });
});

describe('An episode', () => {
  test('has a server process of its own, and none of another one', async () => {
    const { episode } = episodes();
    const [one, other] = [episode(), episode()];
    expect(await called(one, 'count')).toBe('1');
    expect(await called(one, 'count')).toBe('2');
    expect(await called(other, 'count')).toBe('1');
    await one.close();
    await other.close();
  });

  test('shares one process with all others where isolation is shared, also after it died', async () => {
    const { episode } = episodes({ isolation: 'shared' });
    const [one, other] = [episode(), episode()];
    expect(await Promise.all([called(one, 'count'), called(other, 'count')])).toEqual(['1', '2']);
    await one.close();
    expect(await called(other, 'count')).toBe('3');
    await expect(called(other, 'die')).rejects.toThrow('it closed the connection');
    expect(await called(other, 'count')).toBe('1');
  });

  test('reads a result, an error of the tool, and that a call has no answer or too long a one', async () => {
    const { shared, episode } = episodes({ deadlineS: 0.4, longestS: 5 });
    const one = episode();
    expect(await called(one, 'getSum', { a: 2, b: 3 })).toBe('5');
    expect(await one.call({}, context('throws'))).toMatchObject({
      content: 'it failed',
      isError: true,
    });
    expect(await called(one, 'never')).toBe(
      'Error: no answer within 0.4 s without progress, or 5 s in all.',
    );
    expect(await called(one, 'getSum', { a: 2, b: 4 })).toBe('6');
    // It takes longer than a deadline that every report of progress begins anew.
    expect(await called(one, 'slow')).toBe('done');
    await one.close();
    expect(shared.report()).toMatchObject({
      calls: 5,
      errors: 1,
      timeout: 1,
    });
  });

  test('has no server any more after an answer of more than 10 MB', async () => {
    const { shared, episode } = episodes();
    const one = episode();
    expect(await called(one, 'flood')).toBe('Error: its answer is longer than 10 MB.');
    await expect(called(one, 'count')).rejects.toThrow('its server is gone');
    await one.close();
    expect(shared.report()).toMatchObject({ calls: 2, 'too-large': 1, network: 1 });
  });

  test('fails where its server dies during a call, and the next has a new one', async () => {
    const { episode } = episodes();
    const one = episode();
    await expect(called(one, 'die')).rejects.toThrow('it closed the connection');
    await one.close();
    expect(await called(episode(), 'count')).toBe('1');
  });

  test("has no other variables of the environment than those that are named and the system's", async () => {
    const { episode } = episodes({ env: ['TEST_MCP_NAMED'] });
    const names = (await called(episode(), 'variables')).split(',');
    expect(names).toContain('TEST_MCP_NAMED');
    expect(names).not.toContain('TEST_MCP_OTHER');
  });

  test('is answered from a cassette without a server', async () => {
    const path = join(folder, 'calls.jsonl');
    const record = { allow: ['getSum', 'throws'], cassette: { mode: 'record', path } };
    const before = await found(record);
    const recorded = episodes(record).episode();
    const first = calls;
    const said = [
      await called(recorded, 'getSum', { a: 1, b: 1 }),
      await called(recorded, 'throws'),
    ];
    await recorded.close();
    const replay = {
      ...record,
      command: ['there is no such program'],
      cassette: { mode: 'replay', path },
    };
    expect(await found(replay)).toEqual(before);
    calls = first;
    const replayed = episodes(replay).episode();
    expect([
      await called(replayed, 'getSum', { a: 1, b: 1 }),
      await called(replayed, 'throws'),
    ]).toEqual(said);
  });
});

test('serve --mcp offers the tools of a run file to a client, which keeps what it defined', async () => {
  const file = writeBelow(
    folder,
    'tools.yaml',
    `extends: ${join(packageRoot(), 'configs', 'code_exec_smoke.yaml')}\ntools: [{type: code_exec, session: true}]\n`,
  );
  const serve = ['serve', '--mcp', '--config', file];
  const program = join(packageRoot(), 'dist', 'scripts', 'agent-rl.js');
  const settings = { command: [process.execPath, program, ...serve] };
  expect((await found(settings)).map(({ name, onInterrupt }) => [name, onInterrupt])).toEqual([
    ['code_exec', 'fail'],
  ]);
  const one = episodes({ ...settings, warm: 0 }).episode();
  expect(await called(one, 'code_exec', { code: 'x = 41\nprint(x)' })).toContain('41');
  expect(await called(one, 'code_exec', { code: 'print(x + 1)' })).toContain('42');
  const { isError, content } = await one.call({ code: 1 }, context('code_exec'));
  expect([isError, content]).toEqual([true, expect.stringMatching(/code/)]);
  await one.close();
});
