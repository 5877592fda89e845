import { type Attack, attack } from '../attack.ts';
import { python } from '../python.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const x = base64('x');
const showFiles = python`
  import os
  for folder, _, files in sorted(os.walk(".")):
      for name in sorted(files):
          if name != "main.py": print(os.path.join(folder, name), open(os.path.join(folder, name)).read())`;

/** Code as it is. */
const as = (name: string, code: Attack['code'], ends: Attack['ends'], says?: string): Attack => ({
  name,
  code,
  ends,
  ...(says !== undefined && { says }),
});
const badFiles = (name: string, files: NonNullable<Attack['files']>): Attack => {
  return { ...as(name, showFiles, ['bad_request']), files };
};

/** Requests that are odd, broken or too large. */
export const badInputAttacks: readonly Attack[] = [
  as('no code at all', null, ['bad_request']),
  as('a number as code', 42, ['bad_request']),
  as('empty code', '', ['ok']),
  as('code of two mebibytes', 'x = 1\n'.repeat(400_000), ['bad_request']),
  attack('a syntax error', { ends: ['error'], says: 'SyntaxError' })`
    def f(:
      pass`,
  as('a NUL in the code', 'print("a")\0print("b")', ['error', 'bad_request']),
  as('half a surrogate in the code', 'print("\ud800x")', ['ok', 'error', 'bad_request']),
  as('an unknown encoding', '# -*- coding: rot13 -*-\nprint("read")', ['ok', 'error']),
  as('a byte order mark', '\ufeffprint("read")', ['ok', 'error']),
  as('line ends of other systems', 'print("one")\r\nprint("two")\rprint("3")', ['ok'], '3'),
  as('one line of a mebibyte', `x = "${'a'.repeat(1e6)}"\nprint(len(x))`, ['ok'], '1000000'),
  attack('names in other scripts', { ends: ['ok'], says: 'ok 🙂' })`
    переменная = "ok"
    print(переменная, "🙂")`,
  attack('the end of the input', { ends: ['ok'], says: 'nothing' })`
    try: print(repr(input()))
    except EOFError: print("nothing")`,
  attack('a large input', { stdin: 'abc'.repeat(400_000), ends: ['ok'], says: '1200000 abc' })`
    text = sys.stdin.read()
    print(len(text), text[:3])`,
  attack('a large unread input', { stdin: 'abc'.repeat(3e6), ends: ['ok'], says: 'done' })`
    print("done")`,
  attack('a closed input', { stdin: 'abc'.repeat(4e5), ends: ['ok', 'error'], says: 'closed' })`
    os.close(0)
    print("closed")`,
  attack('odd bytes', { stdin: 'a\0b\r\n\u202e\ud83d\ude42\u0000', ends: ['ok'], says: 'b' })`
    print(ascii(sys.stdin.read()))`,
  attack('a look at who it is', { ends: ['ok'], says: '__main__ True' })`
    import __main__
    print(__name__, __main__.__dict__ is globals())`,
  attack('a main module that is replaced', { ends: ['ok'], says: 'on' })`
    import types
    sys.modules["__main__"] = types.ModuleType("x")
    sys.modules.pop("__main__")
    print("on")`,
  {
    ...as('files that are asked for', showFiles, ['ok'], './data/in.txt given'),
    files: { 'data/in.txt': base64('given'), 'b.txt': base64('also') },
  },
  badFiles('files that lead out', ({ folder }) => ({
    [`${'../'.repeat(20)}${folder.slice(1)}/made`]: x,
    [`${folder}/made`]: x,
  })),
  badFiles('files with invalid paths', { '': x, '.': x, 'a/': x, 'a\0b': x, 'main.py/x': x }),
  badFiles('files that are not base64', { 'a.txt': 'this is *no* base64!' }),
];
