import { mkdtempSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { RunResult } from '../../core/services/sandbox.ts';
import { lastLine } from '../last-line.ts';
import { escapeProbes, type EscapeProbes } from './escape-probes.ts';
import type { ChildResult, ChildSettings } from '../pyodide/protocol.ts';
import { SandboxChild } from '../pyodide/sandbox-child.ts';

/** One program that tries every probe, each in its own namespace. */
export function probeProgram(
  probes: EscapeProbes,
  bait: Readonly<Record<string, string | number>>,
): string {
  const names = Object.entries(bait).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  return `${names.join('')}
import json
BAIT = {name: value for name, value in globals().items() if name.isupper()}
for name, code in json.loads(${JSON.stringify(JSON.stringify(Object.entries(probes)))}):
    def escaped(name=name): print('ESCAPED ' + name, flush=True)
    try: exec(code, {**BAIT, 'escaped': escaped})
    except BaseException: pass
print('ALL PROBES TRIED')
`;
}

async function listen(onConnection: () => void): Promise<Server> {
  const server = createServer((socket) => {
    onConnection();
    socket.on('error', () => undefined);
    socket.end('HTTP/1.0 200 OK\r\n\r\nx');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

async function runProbes(settings: ChildSettings, code: string): Promise<ChildResult> {
  const child = new SandboxChild(settings);
  try {
    await child.ready();
    return await child.run({
      id: 1,
      code,
      stdin: '',
      seed: 0,
      wallMs: 60_000,
      memoryBytes: 512 * 1024 * 1024,
    });
  } finally {
    await child.end();
  }
}

type Tried = Pick<RunResult, 'status' | 'stdout' | 'stderr' | 'message'>;

const reportedBy = ({ stdout }: Tried): string[] =>
  [...stdout.matchAll(/^ESCAPED (.*)$/gm)].map((match) => match[1] ?? '');

/**
 * Names of the probes that reached the host, as they say or as seen from outside: by a listener on the
 * loopback address, a secret file and a file that must not appear.
 *
 * @param run runs a program in the sandbox under attack
 * @throws Error when the probes could not all be tried.
 */
export async function tryProbes(
  run: (code: string) => Promise<Tried>,
  probes: EscapeProbes,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-rl-probes-'));
  let connections = 0;
  const server = await listen(() => connections++);
  try {
    const bait = {
      PORT: (server.address() as AddressInfo).port,
      SECRET_FILE: join(folder, 'secret'),
      WITNESS_FILE: join(folder, 'witness'),
      CANARY: 'canary-5d2c',
      TRAINER: process.pid,
    };
    writeFileSync(bait.SECRET_FILE, bait.CANARY);
    const result = await run(probeProgram(probes, bait));
    if (!result.stdout.includes('ALL PROBES TRIED')) {
      throw new Error(
        `its escape probes ended with status ${result.status}: ${result.message ?? lastLine(result.stderr)}`,
      );
    }
    const seen = connections > 0 ? ['a connection to the host'] : [];
    if (existsSync(bait.WITNESS_FILE)) seen.push('a file on the host');
    return [...reportedBy(result), ...seen];
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same of a pyodide child process. @throws Error when the probes could not all be tried. */
export const escapedProbes = (
  settings: ChildSettings,
  probes = escapeProbes,
): Promise<readonly string[]> => tryProbes((code) => runProbes(settings, code), probes);
