import type { Attack } from '../attack.ts';
import { python } from '../python.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const showFiles = python`
  import os
  for folder, _, files in sorted(os.walk(".")):
      for name in sorted(files):
          if name != "main.py": print(os.path.join(folder, name), open(os.path.join(folder, name)).read())`;

/** Requests that are odd, broken or too large. */
export const badInputAttacks: readonly Attack[] = [
  { name: 'no code at all', code: null, ends: ['bad_request'] },
  { name: 'a number as code', code: 42, ends: ['bad_request'] },
  { name: 'empty code', code: '', ends: ['ok'] },
  { name: 'code of two mebibytes', code: 'x = 1\n'.repeat(400_000), ends: ['bad_request'] },
  { name: 'a syntax error', code: 'def f(:\n  pass', ends: ['error'], says: 'SyntaxError' },
  { name: 'a NUL in the code', code: 'print("a")\0print("b")', ends: ['error', 'bad_request'] },
  {
    name: 'half a surrogate in the code',
    code: 'print("\ud800x")',
    ends: ['ok', 'error', 'bad_request'],
  },
  {
    name: 'an unknown encoding',
    code: '# -*- coding: rot13 -*-\nprint("read")',
    ends: ['ok', 'error'],
  },
  { name: 'a byte order mark', code: '\ufeffprint("read")', ends: ['ok', 'error'] },
  {
    name: 'line ends of other systems',
    code: 'print("one")\r\nprint("two")\rprint("three")',
    ends: ['ok'],
    says: 'three',
  },
  {
    name: 'one line of a mebibyte',
    code: `x = "${'a'.repeat(1_000_000)}"\nprint(len(x))`,
    ends: ['ok'],
    says: '1000000',
  },
  {
    name: 'names in other scripts',
    code: 'переменная = "ok"\nprint(переменная, "🙂")',
    ends: ['ok'],
    says: 'ok 🙂',
  },
  {
    name: 'the end of the input',
    code: 'try: print(repr(input()))\nexcept EOFError: print("nothing")',
    ends: ['ok'],
    says: 'nothing',
  },
  {
    name: 'a large input',
    code: 'import sys\ntext = sys.stdin.read()\nprint(len(text), text[:3])',
    stdin: 'abc'.repeat(400_000),
    ends: ['ok'],
    says: '1200000 abc',
  },
  {
    name: 'a large input that is not read',
    code: 'print("done")',
    stdin: 'abc'.repeat(3_000_000),
    ends: ['ok'],
    says: 'done',
  },
  {
    name: 'an input that closes early',
    code: 'import os\nos.close(0)\nprint("closed")',
    stdin: 'abc'.repeat(400_000),
    ends: ['ok', 'error'],
    says: 'closed',
  },
  {
    name: 'an input of odd bytes',
    code: 'import sys\nprint(ascii(sys.stdin.read()))',
    stdin: 'a\0b\r\n\u202e\ud83d\ude42\u0000',
    ends: ['ok'],
    says: 'b',
  },
  {
    name: 'a look at who it is',
    code: 'import __main__\nprint(__name__, __main__.__dict__ is globals())',
    ends: ['ok'],
    says: '__main__ True',
  },
  {
    name: 'a main module that is replaced',
    code: 'import sys, types\nsys.modules["__main__"] = types.ModuleType("x")\nsys.modules.pop("__main__")\nprint("on")',
    ends: ['ok'],
    says: 'on',
  },
  {
    name: 'files that are asked for',
    code: showFiles,
    files: { 'data/in.txt': base64('given'), 'b.txt': base64('also') },
    ends: ['ok'],
    says: './data/in.txt given',
  },
  {
    name: 'files that lead out',
    code: showFiles,
    files: ({ folder }) => ({
      [`${'../'.repeat(20)}${folder.slice(1)}/made`]: base64('x'),
      [`${folder}/made`]: base64('x'),
    }),
    ends: ['bad_request'],
  },
  {
    name: 'files with invalid paths',
    code: showFiles,
    files: {
      '': base64('x'),
      '.': base64('x'),
      'a/': base64('x'),
      'a\0b': base64('x'),
      'main.py/x': base64('x'),
    },
    ends: ['bad_request'],
  },
  {
    name: 'files that are not base64',
    code: showFiles,
    files: { 'a.txt': 'this is *no* base64!' },
    ends: ['bad_request'],
  },
];
