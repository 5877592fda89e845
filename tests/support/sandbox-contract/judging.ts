import { describe, expect, test } from '@jest/globals';

import { type Asking, passes } from './asking.ts';

const stubborn = 'while True:\n    try:\n        while True: pass\n    except BaseException: pass';

/** How a backend judges a program by statements. */
export function judging({ run, judge }: Asking): void {
  describe('as a judge', () => {
    test('judges statements in order, in names of their own, and hides what they print', async () => {
      const code =
        'def double(x):\n    print("doubling")\n    return 2 * x\ndef sorted(x): return "mine"';
      const result = await judge(code, [
        'print("expected: 42")\nassert double(2) == 4',
        'kept = double(3)',
        'assert kept == 6',
        'assert double(1) == 3, "no"',
        'assert sorted([2, 1]) == [1, 2]',
      ]);
      const stdout = 'doubling\n'.repeat(3);
      expect(result).toMatchObject({ status: 'ok', stdout, stderr: '' });
      expect(passes(result)).toEqual([true, true, true, false, true]);
      expect(result.verdicts[3]?.problem).toBe('AssertionError: no');
    });

    test('judges objects of the solution by their attributes and methods', async () => {
      const code =
        'class Node:\n    def __init__(self, value): self.value, self.next = value, None\n    def __eq__(self, other): return True\n    def doubled(self): return 2 * self.value\ndef length(node): return 0 if not node else 1 + length(node.next)';
      const values = ['length(head) == 2', 'head.next.doubled() == 4', 'head', 'head == head'];
      const statements = values.map((value) => `assert ${value}`);
      const setup = 'head = Node(1)\nhead.next = Node(2)';
      const judged = await judge(code, statements, { setup });
      expect(passes(judged)).toEqual([true, true, false, false]);
    });

    test.each([
      ['ends', 'import os\ndef f(x): os._exit(0)', 'ok'],
      ['crashes', 'import os\ndef f(x): os.abort()', /ok|crashed/],
      ['does not load', 'raise ValueError("no")', /ok|error/],
      ['raises SystemExit', 'def f(x): raise SystemExit(0)', /ok|error/],
      ['leaves while it loads', 'import sys\nsys.exit(0)', /ok|error/],
      ['raises what ends loops', 'def f(x): raise StopIteration', 'ok'],
      ['floods its output', 'def f(x):\n    while True: print("a" * 9999)', 'output_limit'],
      ['agrees with all', 'class A:\n    __eq__ = lambda s, o: 1\ndef f(x): return A()', 'ok'],
    ])('passes no test of a solution that %s', async (_, code, status) => {
      const statements = ['assert f(1) == 2', 'assert all(map(lambda x: f(x) == 2, [1]))'];
      const judged = await judge(code, statements);
      expect(passes(judged)).not.toContain(true);
      expect(judged.status).toMatch(status);
    });

    test('counts the verdicts before a call that does not return, and no later ones', async () => {
      const code = 'def f(x):\n    while x == 2: pass\n    return x';
      const statements = [1, 2, 1].map((x) => `assert f(${x}) == ${x}`);
      const result = await judge(code, statements, {}, { wallS: 1 });
      expect(result.status).toBe('timeout');
      expect(passes(result)[0]).toBe(true);
      expect(passes(result).slice(1)).not.toContain(true);
      expect(result.stderr).toMatch(/File "main.py", line 2, in f[^]*KeyboardInterrupt\n$/);
      expect(result.stderr).not.toContain('harness');
    });

    test('ends solutions and tests that ignore interrupts', async () => {
      const limits = { wallS: 0.5 };
      const solution = `def f(x):\n    ${stubborn.replaceAll('\n', '\n    ')}`;
      const stuck = await judge(solution, ['assert f(1) == 1'], {}, limits);
      expect(stuck.status).toBe('timeout');
      expect(passes(stuck)).not.toContain(true);
      const statements = ['assert f(1) == 1', stubborn, 'assert 1'];
      const late = await judge('def f(x): return x', statements, {}, limits);
      expect(late.status).toBe('timeout');
      expect(passes(late).slice(1)).not.toContain(true);
      expect(passes(await judge('def f(x): return x', ['assert f(1) == 1']))).toEqual([true]);
    });

    test('makes a thousand calls, and carries megabytes both ways', async () => {
      const code =
        'made = []\ndef f(x):\n    made.append(x)\n    return len(made)\ndef g(x): return len(x)\ndef h(n): return "ab" * n';
      const statements = [
        'for i in range(1000): assert f(i) == i + 1',
        'assert g("é" * 500_000) == 500_000',
        'assert h(1_000_000) == "ab" * 1_000_000',
      ];
      expect(passes(await judge(code, statements))).toEqual([true, true, true]);
    });

    test('repeats the random results of the tests', async () => {
      const statements = ['import random', 'assert 0, random.random()'];
      const [first, second] = [await judge('1', statements), await judge('1', statements)];
      expect(first.verdicts[1]?.problem).toMatch(/^AssertionError: 0\.\d+$/);
      expect(second.verdicts).toEqual(first.verdicts);
    });

    test('leaves nothing of tests or solution to what runs next', async () => {
      const setup = 'import builtins; builtins.SECRET = "EXPECTED-VALUE"';
      await judge('import builtins; builtins.MARK = 1; f = 1', ['assert f == 1'], { setup });
      const code =
        'import builtins\ndef f(): return [hasattr(builtins, n) for n in ("SECRET", "MARK")]';
      const statements = ['import builtins', 'assert f() == [False, False]'];
      expect(passes(await judge(code, statements))).toEqual([true, true]);
      expect((await run(`${code}\nprint(f())`)).stdout).toBe('[False, False]\n');
    });
  });
}
