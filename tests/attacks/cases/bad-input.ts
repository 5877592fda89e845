import { type Attack, attack } from '../attack.ts';
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
  attack('empty code', { ends: ['ok'] })``,
  { name: 'code of two mebibytes', code: 'x = 1\n'.repeat(400_000), ends: ['bad_request'] },
  attack('a syntax error', { ends: ['error'], says: 'SyntaxError' })`
    def f(:
      pass`,
  { name: 'a NUL in the code', code: 'print("a")\0print("b")', ends: ['error', 'bad_request'] },
  {
    name: 'half a surrogate in the code',
    code: 'print("\ud800x")',
    ends: ['ok', 'error', 'bad_request'],
  },
  attack('an unknown encoding', { ends: ['ok', 'error'] })`
    # -*- coding: rot13 -*-
    print("read")`,
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
  attack('names in other scripts', { ends: ['ok'], says: 'ok 🙂' })`
    переменная = "ok"
    print(переменная, "🙂")`,
  attack('the end of the input', { ends: ['ok'], says: 'nothing' })`
    try: print(repr(input()))
    except EOFError: print("nothing")`,
  attack('a large input', { stdin: 'abc'.repeat(400_000), ends: ['ok'], says: '1200000 abc' })`
    import sys
    text = sys.stdin.read()
    print(len(text), text[:3])`,
  attack('a large input that is not read', {
    stdin: 'abc'.repeat(3_000_000),
    ends: ['ok'],
    says: 'done',
  })`
    print("done")`,
  attack('an input that closes early', {
    stdin: 'abc'.repeat(400_000),
    ends: ['ok', 'error'],
    says: 'closed',
  })`
    import os
    os.close(0)
    print("closed")`,
  attack('an input of odd bytes', {
    stdin: 'a\0b\r\n\u202e\ud83d\ude42\u0000',
    ends: ['ok'],
    says: 'b',
  })`
    import sys
    print(ascii(sys.stdin.read()))`,
  attack('a look at who it is', { ends: ['ok'], says: '__main__ True' })`
    import __main__
    print(__name__, __main__.__dict__ is globals())`,
  attack('a main module that is replaced', { ends: ['ok'], says: 'on' })`
    import sys, types
    sys.modules["__main__"] = types.ModuleType("x")
    sys.modules.pop("__main__")
    print("on")`,
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
