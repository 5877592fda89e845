import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
  const child = spawn(python, ['main.py'], {
    cwd: folder,
    stdio: 'pipe',
    detached: true,
    // A test has an environment of its own.
    env: { ...process.env },
  });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (out[name] += text));
  }
  child.stdin.on('error', () => undefined).end(stdin);
  let late = false;
  const kill = (): void => {
    late = true;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(kill, 1000 * (limits.wallS ?? 10));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('exit', resolve);
  });
  clearTimeout(timer);
  await new Promise((resolve) => setTimeout(resolve, 50));
  rmSync(folder, { recursive: true, force: true });
  const status = late
    ? 'timeout'
    : exitCode === 0
      ? 'ok'
      : exitCode === null
        ? 'signaled'
        : 'error';
  return {
    status,
    ...out,
    stdoutBytes: out.stdout.length,
    stderrBytes: out.stderr.length,
    truncated: false,
    wallMs: 0,
    level: 'none',
  };
}
