import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { Value } from '#agent_rl/core/typebox.ts';
import { McpPool } from '#agent_rl/tools/mcp/mcp-pool.ts';
import { McpTools } from '#agent_rl/tools/mcp/mcp-tools.ts';
import { McpSettings } from '#agent_rl/tools/mcp/settings.ts';
import { closedAfterEach } from '../support/closed-after-each.ts';
import { descendants } from '../support/descendants.ts';
import { freePort } from '../support/free-port.ts';
import { type RealServer, startServer } from '../support/real-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Servers of MCP as their makers publish them on npm. AGENT_RL_MCP_SERVERS names a folder whose node_modules has them; otherwise
// they are installed.

const names = ['everything', 'filesystem', 'memory'] as const;
const folder = temporaryFolder();
const home = process.env['AGENT_RL_MCP_SERVERS'] ?? folder;
const program = (name: (typeof names)[number]): string =>
  join(home, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js');
const shared = join(folder, 'shared');
let overHttp: RealServer;

beforeAll(async () => {
  if (process.env['AGENT_RL_MCP_SERVERS'] === undefined) {
    const packages = names.map((name) => `@modelcontextprotocol/server-${name}@2026.8.31`);
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
      cwd: folder,
    });
  }
  mkdirSync(shared);
  writeFileSync(join(shared, 'a.txt'), 'said');
  const port = await freePort();
  overHttp = startServer(`http://127.0.0.1:${port}`, {
    words: [process.execPath, program('everything'), 'streamableHttp'],
    log: join(folder, 'http.log'),
    env: { PORT: String(port) },
  });
  const isUp = () =>
    fetch(`${overHttp.url}/mcp`).then(
      () => true,
      () => false,
    );
  overHttp.ready.catch(() => undefined);
  while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 100));
});
afterAll(() => overHttp.kill());

const opened = closedAfterEach();
function serverOf(settings: object) {
  const whole = Value.Default(McpSettings, { name: 'real', ...settings }) as McpSettings;
  const pool = new McpPool(whole, { environment: process.env });
  opened.push(pool);
  return { pool, episode: () => new McpTools({ shared: pool, settings: whole }) };
}

const { signal } = new AbortController();
let calls = 0;
const context = (of: string) => {
  calls += 1;
  return { of, signal, inputs: {}, idempotencyKey: 'key', random: new KeyedRng(calls) };
};
const command = (name: (typeof names)[number], ...args: string[]) => [
  process.execPath,
  program(name),
  ...args,
];

/** Megabytes of this process and of all that it started. */
const memory = (): number =>
  [process.pid, ...descendants(process.pid)]
    .map((pid) => /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1])
    .reduce((sum, kilobytes) => sum + Number(kilobytes) / 1024, 0);

describe('A server answers 1,000 calls', () => {
  const echo = { of: 'echo', args: { message: 'hi' }, expected: 'Echo: hi' };
  test.each([
    {
      name: 'everything over stdio',
      ...echo,
      settings: () => ({ command: command('everything', 'stdio') }),
    },
    { name: 'everything over HTTP', ...echo, settings: () => ({ url: `${overHttp.url}/mcp` }) },
    {
      name: 'filesystem',
      of: 'read_text_file',
      args: { path: join(shared, 'a.txt') },
      expected: 'said',
      settings: () => ({ command: command('filesystem', shared) }),
    },
    {
      name: 'memory',
      of: 'read_graph',
      args: {},
      expected: 'entities',
      settings: () => ({ command: command('memory') }),
    },
  ])('$name', async ({ name, settings, of, args, expected }) => {
    const { pool, episode } = serverOf(settings());
    const before = new Set(descendants(process.pid));
    const one = episode();
    const started = performance.now();
    for (let call = 0; call < 1000; call++) {
      const { content } = await one.call(args, context(of));
      expect(content).toContain(expected);
    }
    const seconds = (performance.now() - started) / 1000;
    process.stderr.write(`${name}: 1,000 calls in ${seconds.toFixed(2)} s\n`);
    await one.close();
    await pool.close();
    expect(descendants(process.pid).filter((pid) => !before.has(pid))).toEqual([]);
  });
});

test('a server that is killed during a call fails that call, and the next episode has another', async () => {
  const { episode } = serverOf({ command: command('everything', 'stdio'), warm: 0 });
  const one = episode();
  await one.call({ message: 'hi' }, context('echo'));
  const [pid] = descendants(process.pid).slice(-1);
  const call = one.call({ duration: 20, steps: 2 }, context('trigger-long-running-operation'));
  setTimeout(() => process.kill(pid!, 'SIGKILL'), 300);
  await expect(call).rejects.toThrow('it closed the connection');
  await one.close();
  expect((await episode().call({ message: 'hi' }, context('echo'))).content).toBe('Echo: hi');
});

describe('64 episodes at once', () => {
  test.each([
    ['shared', () => ({ command: command('everything', 'stdio'), isolation: 'shared' })],
    ['process', () => ({ command: command('everything', 'stdio'), warm: 8 })],
    ['session', () => ({ url: `${overHttp.url}/mcp`, warm: 8 })],
  ] as const)('%s', async (name, settings) => {
    const { episode } = serverOf(settings());
    const before = memory();
    const started = performance.now();
    const episodes = Array.from({ length: 64 }, episode);
    const said = await Promise.all(
      episodes.map(async (one, at) => {
        const sums: string[] = [];
        for (let turn = 0; turn < 5; turn++)
          sums.push((await one.call({ a: at, b: turn }, context('get-sum'))).content);
        return sums;
      }),
    );
    const seconds = (performance.now() - started) / 1000;
    const more = memory() - before;
    process.stderr.write(`${name}: ${seconds.toFixed(1)} s, ${more.toFixed(0)} MB more\n`);
    for (const [at, sums] of said.entries())
      expect(sums).toEqual(
        Array.from({ length: 5 }, (_, turn) => `The sum of ${at} and ${turn} is ${at + turn}.`),
      );
    for (const one of episodes) await one.close();
  });
});
