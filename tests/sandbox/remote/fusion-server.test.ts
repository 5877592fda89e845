import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { RemoteSandbox } from '#agent_rl/sandbox/remote/remote-sandbox.ts';
import { type DoubleAnswer, httpDouble } from '#tests/support/http-double.ts';
import { hasNativePython } from '#tests/support/python.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const onLinux = hasNativePython ? describe : describe.skip;
const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

interface Body {
  code: string;
  stdin?: string;
  run_timeout: number;
  files: Readonly<Record<string, string>>;
  fetch_files: readonly string[];
}

/** Runs Python as SandboxFusion does, without its walls: for harmless programs only. */
function runCode(body: Body): DoubleAnswer {
  const folder = mkdtempSync(join(tmpdir(), 'fusion-double-'));
  try {
    for (const [name, content] of Object.entries(body.files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), Buffer.from(content, 'base64'));
    }
    writeFileSync(join(folder, 'tmp_main.py'), body.code);
    const options = { cwd: folder, input: body.stdin ?? '', timeout: 1000 * body.run_timeout };
    const ran = spawnSync('/usr/bin/python3', ['tmp_main.py'], { ...options, encoding: 'utf8' });
    const late = ran.error !== undefined;
    const fetched = body.fetch_files.filter((name) => existsSync(join(folder, name)));
    const files = fetched.map((name) => [name, readFileSync(join(folder, name), 'base64')]);
    const run_result = {
      status: late ? 'TimeLimitExceeded' : 'Finished',
      execution_time: 0.1,
      return_code: late ? null : ran.status,
      stdout: ran.stdout,
      stderr: ran.stderr,
    };
    const status = !late && ran.status === 0 ? 'Success' : 'Failed';
    const answer = { status, message: '', compile_result: null, run_result };
    return { status: 200, json: { ...answer, files: Object.fromEntries(files) } };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function started(answer = runCode): Promise<RemoteSandbox> {
  const server = await httpDouble(({ path, body }) =>
    path === '/run_code' ? answer(body as unknown as Body) : { status: 404, json: {} },
  );
  opened.push(server);
  // The address as users copy it.
  const sandbox = await RemoteSandbox.start({ url: `${server.url}/run_code`, workers: 2 });
  opened.push(sandbox);
  return sandbox;
}

onLinux('A server that supports only POST /run_code', () => {
  let sandbox: RemoteSandbox;
  beforeAll(async () => {
    sandbox = await started();
  });

  test('is tested, and reports what it does not support', async () => {
    const { level, python, unsupported } = sandbox.capabilities();
    expect([level, unsupported]).toEqual(['remote:sandbox-fusion', ['judge', 'sessions']]);
    expect(python).toMatch(/^3\.\d+$/);
  });

  test('runs programs', async () => {
    const files = { 'data/a.txt': Buffer.from('one').toString('base64') };
    const code = 'print(open("data/a.txt").read(), input())';
    const ran = await sandbox.execute({ kind: 'run', code, stdin: 'two\n', files });
    const level = 'remote:sandbox-fusion';
    expect(ran).toMatchObject({ status: 'ok', stdout: 'one two\n', level });
    const failed = await sandbox.execute({ kind: 'run', code: '1/0' });
    expect(failed).toMatchObject({ status: 'error', exitCode: 1 });
    expect(failed.stderr).toContain('ZeroDivisionError');
    const late = { code: 'while True: pass', limits: { wallS: 0.3 } };
    expect(await sandbox.execute({ kind: 'run', ...late })).toMatchObject({ status: 'timeout' });
  });

  test('keeps as much of the output as other sandboxes', async () => {
    const run = await sandbox.execute({ kind: 'run', code: 'print("é" * 40000, end="")' });
    expect(run).toMatchObject({ status: 'ok', truncated: true, stdoutBytes: 80_000 });
    expect(run.stdout).toBe('é'.repeat(32_768));
  });

  const calls = (code: string, entry: string, ...args: unknown[]) =>
    sandbox.execute({ kind: 'calls', code, entry, args: args.map((arg) => [arg]) });

  test('calls functions, with the values and failures of any sandbox', async () => {
    const code =
      'class S:\n    def __init__(self): self.n = 0\n    def add(self, x):\n        print("noise")\n        self.n += x\n        return (self.n, {1: [x]})';
    const called = await calls(code, 'S.add', 1, 2, 'x');
    expect(called.status).toBe('ok');
    expect(called.results).toEqual([
      { ok: true, value: { $tuple: [1, { $dict: [[1, [1]]] }] } },
      { ok: true, value: { $tuple: [2, { $dict: [[1, [2]]] }] } },
      { ok: false, problem: expect.stringMatching(/^TypeError/) },
    ]);
  });

  test('keeps the results of the calls before one that ends the program', async () => {
    const code = 'import os\ndef f(x):\n    if x == 2: os._exit(0)\n    return x';
    expect((await calls(code, 'f', 1, 2, 1)).results).toEqual([{ ok: true, value: 1 }]);
  });

  test.each([
    ['text that is not JSON', '{"ok":true'.repeat(9)],
    ['more results than calls', '{"ok":true,"value":0}\n{"ok":true,"value":0}'],
    ['values that Python does not have', '{"ok":true,"value":{"$strange":1}}'],
  ])('finds that a program tampered with its results: %s', async (_, lines) => {
    const forged = JSON.stringify(`${lines}\n`);
    const code = `import glob\nfor name in glob.glob("results-*"): open(name, "a").write(${forged})\ndef f(x): return 0`;
    const message = 'the program tampered with its results';
    const refused = { status: 'crashed', results: [], message };
    expect(await calls(code, 'f', 1)).toMatchObject(refused);
  });

  test('recognises a program that runs out of memory', async () => {
    const code = 'def f(x): return 1\nraise MemoryError';
    expect(await calls(code, 'f', 1)).toMatchObject({ status: 'memory_limit', results: [] });
  });

  test('refuses to judge and to open a session', async () => {
    const judged = sandbox.execute({ kind: 'judge', code: '', tests: { statements: ['1'] } });
    const code = 'SANDBOX_UNAVAILABLE';
    expect(await rejectionOf(judged)).toMatchObject({ code });
    expect(() => sandbox.openSession()).toThrow(expect.objectContaining({ code }));
  });

  const failing = { status: 'SandboxError', message: 'no worker is left' };

  test.each<[string, (body: Body) => DoubleAnswer, string]>([
    ['returns no files', (body) => runCode({ ...body, fetch_files: [] }), 'fetch_files'],
    ['fails', () => ({ status: 200, json: failing }), 'no worker is left'],
  ])('is refused when it %s', async (_, answer, text) => {
    const error = await rejectionOf(started(answer));
    expect(error).toMatchObject(errorOf('SANDBOX_UNAVAILABLE', text));
  });
});
