import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import type { RunRequest, RunResult, Sandbox } from '#agent_rl/core/services/sandbox.ts';
import { bareResult } from '#agent_rl/sandbox/requests/result-without-output.ts';

const python = '/usr/bin/python3';

/**
 * No sandbox at all: a program is a process of this user. It shows that attacks work where nothing holds them; only
 * harmless ones may be given to it.
 */
export function unsafeSandbox(): Sandbox {
  const refuse = (): never => {
    throw new Error('The unsafe sandbox only runs programs.');
  };
  return {
    execute: async (request) => {
      if (request.kind !== 'run') return refuse();
      return bareResult(request.kind, await run(request));
    },
    openSession: refuse,
    capabilities: () => ({ backend: 'unsafe', level: 'none', python: '3', concurrency: 2 }),
    close: async () => undefined,
  };
}

async function run({ code, stdin = '', limits = {} }: RunRequest): Promise<RunResult> {
  const folder = mkdtempSync(join(tmpdir(), 'unsafe-'));
  writeFileSync(join(folder, 'main.py'), code);
  // A test has an environment of its own.
  const options = { cwd: folder, detached: true, env: { ...process.env } } as const;
  const child = spawn(python, ['main.py'], options);
  child.stdin.on('error', () => undefined).end(stdin);
  let late = false;
  const kill = (): void => {
    late = true;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(kill, 1000 * (limits.wallS ?? 10));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  clearTimeout(timer);
  rmSync(folder, { recursive: true, force: true });
  const ended = child.exitCode === 0 ? 'ok' : child.exitCode === null ? 'signaled' : 'error';
  const [stdoutBytes, stderrBytes] = [stdout.length, stderr.length];
  const result = { stdout, stderr, stdoutBytes, stderrBytes, truncated: false, wallMs: 0 };
  return { status: late ? 'timeout' : ended, ...result, level: 'none' };
}
