import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { RunResult } from '#agent_rl/core/services/sandbox.ts';
import { openSandbox, type OpenedSandbox } from '#agent_rl/sandbox/open-sandbox.ts';
import { type StartedProgram, startProgram } from '#tests/support/built-program.ts';
import { unhurriedLimits } from '#tests/support/sandbox-limits.ts';
import { hasOpenssl, selfSigned } from '#tests/support/self-signed.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { expectRejection } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const tokenEnv = 'TEST_SANDBOX_SERVERS_TOKEN';
const withOpenssl = hasOpenssl ? describe : describe.skip;

/** A real server in a process of its own, which speaks https, and where it is found. */
async function server(flags: readonly string[]): Promise<{ program: StartedProgram; url: string }> {
  const program = startProgram(
    'agent-rl',
    ['sandbox', 'serve', '--port', '0', '--token-env', tokenEnv, '--type', 'pyodide', ...flags],
    folder,
    { timeoutMs: 600_000 },
  );
  return { program, url: await program.wrote(/https:\/\/[\d.]+:\d+/) };
}

/** What a program gave, without what the clock says of it. */
const outcome = ({ status, exitCode, stdout, stderr, level }: RunResult) => ({
  status,
  exitCode,
  stdout,
  stderr,
  level,
});

withOpenssl('two servers in processes of their own, by https', () => {
  let servers: { program: StartedProgram; url: string }[];
  let caFile: string;
  const opened: OpenedSandbox[] = [];

  beforeAll(async () => {
    process.env[tokenEnv] = 'token-of-two-servers';
    const { cert, key } = selfSigned(folder);
    caFile = cert;
    const flags = ['--workers', '2', '--tls-cert', cert, '--tls-key', key];
    servers = await Promise.all([server(flags), server(flags)]);
  });
  afterAll(async () => {
    for (const sandbox of opened) await sandbox.close();
    for (const { program } of servers) program.kill();
    await Promise.all(servers.map(({ program }) => program.ended));
    delete process.env[tokenEnv];
  });

  const open = async (url: string | readonly string[], options: { caFile?: string } = {}) => {
    const sandbox = await openSandbox({
      type: 'remote',
      url,
      tokenEnv,
      workers: 4,
      limits: unhurriedLimits,
      ...options,
    });
    opened.push(sandbox);
    return sandbox;
  };
  const urls = (): string[] => servers.map(({ url }) => url);

  test('an unknown certificate authority is not trusted', async () => {
    await expectRejection(open(urls()), 'SANDBOX_UNAVAILABLE', /self-signed certificate/);
  });

  test('every server gives the same results, also when one is killed midway', async () => {
    const programs = Array.from({ length: 24 }, (_, i) => ({
      kind: 'run' as const,
      seed: i,
      code: `import random\nprint(${i}, random.random(), sum(j * j for j in range(${200_000 + i})))\nassert ${i} % 5`,
    }));
    const [alone, both] = [await open(urls()[1]!, { caFile }), await open(urls(), { caFile })];
    const expected: RunResult[] = [];
    for (const program of programs) expected.push(await alone.execute(program));
    let ended = 0;
    const running = programs.map(async (program) => {
      const result = await both.execute(program);
      ended += 1;
      if (ended === 4) servers[0]!.program.kill();
      return result;
    });
    expect((await Promise.all(running)).map(outcome)).toEqual(expected.map(outcome));
    const told = both.incidents.all.map(({ kind, message }) => `${kind}: ${message}`).join('\n');
    expect(told).toContain(`server: The sandbox server ${urls()[0]} is out of use until`);
    expect(told).toContain('moved: ');
  });
});

test('a certificate without its own key is refused', async () => {
  const args = ['sandbox', 'serve', '--port', '0', '--type', 'pyodide', '--tls-cert', 'x.pem'];
  const alone = await startProgram('agent-rl', args, folder).ended;
  expect([alone.code, alone.stderr]).toEqual([
    2,
    expect.stringContaining('--tls-cert is given without --tls-key'),
  ]);
  for (const name of ['x.pem', 'y.pem']) writeFileSync(join(folder, name), 'x');
  const wrong = await startProgram('agent-rl', [...args, '--tls-key', 'y.pem'], folder).ended;
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('The certificate x.pem with the key y.pem cannot be used'),
  ]);
});
