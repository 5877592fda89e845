import { describe, expect, test } from '@jest/globals';

import type { RunResult, SandboxFiles } from '#agent_rl/core/services/sandbox.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64');

describe('Files of a request', () => {
  const sandbox = startedSandbox();
  const ran = (code: string, files: SandboxFiles): Promise<RunResult> =>
    sandbox().execute({ kind: 'run', code, files });

  test('lie in the working folder before the program starts, byte for byte', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const run = await ran(
      'print(open("a b/é.txt").read(), list(open("raw", "rb").read()) == list(range(256)), len(open("empty").read()))',
      { 'a b/é.txt': base64('hello'), raw: base64(bytes), empty: '' },
    );
    expect(run).toMatchObject({ status: 'ok', stdout: 'hello True 0\n' });
  });

  test('may be modules, and may be written to', async () => {
    const files = { 'pack/__init__.py': '', 'pack/mod.py': base64('x = 7'), note: base64('a') };
    const code =
      'import sys\nsys.path.insert(0, ".")\nfrom pack.mod import x\nopen("note", "a").write("b")\nprint(x, open("note").read())';
    expect((await ran(code, files)).stdout).toBe('7 ab\n');
  });

  test('are gone in the next run', async () => {
    await ran('pass', { 'folder/file': base64('x') });
    const look = 'import os\nprint(os.path.exists("folder"), os.listdir("."))';
    const before = (await ran(look, {})).stdout;
    expect(before).toMatch(/^False/);
    await ran('pass', { 'folder/file': base64('x') });
    expect((await ran(look, {})).stdout).toBe(before);
  });

  test.each([
    ['/etc/passwd', 'relative'],
    ['../up', 'leads out'],
    ['a/../../up', 'leads out'],
    ['a\0b', 'NUL'],
    ['', 'empty part'],
    ['a//b', 'empty part'],
    ['a/', 'empty part'],
    ['./a', 'empty part'],
    ['a\ud800', 'surrogate'],
    ['é'.repeat(128), 'more than 255 bytes'],
  ])('are refused at the path %j', async (path, why) => {
    const run = await ran('print(1)', { [path]: base64('x') });
    expect(run).toMatchObject({ status: 'bad_request', stdout: '' });
    expect(run.message).toContain(why);
  });

  test.each(['x', 'ab=c', 'ab c', 'ab_-', 42 as unknown as string])(
    'are refused with the content %j, which is not base64',
    async (content) => {
      const run = await ran('print(1)', { a: content });
      expect(run).toMatchObject({ status: 'bad_request' });
      expect(run.message).toContain('not base64');
    },
  );

  test('are refused where one lies at the folder of another', async () => {
    const run = await ran('print(1)', { a: base64('x'), 'a/b': base64('y') });
    expect(run).toMatchObject({ status: 'bad_request', stdout: '' });
    expect((await ran('print(2)', {})).stdout).toBe('2\n');
  });

  test('count against the disk quota', async () => {
    const large = base64(Buffer.alloc(20 << 20));
    const half = await ran('open("b", "wb").write(bytes(20 << 20))', { a: large });
    expect(half.status).toBe('disk_limit');
    expect(half.stderr).toContain('OSError');
    const both = await ran('print(1)', { a: large, b: large });
    expect(both).toMatchObject({ status: 'disk_limit', stdout: '' });
    const many = Array.from({ length: 2100 }, (_, i) => [`f${i}`, ''] as const);
    expect((await ran('print(1)', Object.fromEntries(many))).status).toBe('disk_limit');
    expect((await ran('print(2)', {})).stdout).toBe('2\n');
  });

  test.each<[string, SandboxFiles]>([
    ['one of 33 MiB', { a: base64(Buffer.alloc(33 << 20)) }],
    ['3,000', Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`f${i}`, '']))],
  ])('beyond the disk quota, %s, are refused with how much there is', async (_name, files) => {
    expect(await ran('print(1)', files)).toMatchObject({
      status: 'disk_limit',
      message:
        "the program's files could not be put in place: ENOSPC (Emscripten's errno 51); at most 32 MiB and 2048 files and folders are allowed",
    });
  });
});
