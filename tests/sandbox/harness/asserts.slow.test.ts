import { describe, expect, test } from '@jest/globals';

import type { AssertTests, JudgeResult } from '#agent_rl/core/services/sandbox.ts';
import { hasPython, withHarness } from '#tests/support/harness.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

const sandbox = startedSandbox();

const judge = (code: string, tests: AssertTests): Promise<JudgeResult> =>
  sandbox().execute({ kind: 'judge', code, tests });

/** For each statement `undefined` if it passed, else its problem. */
async function problems(
  code: string,
  statements: readonly string[],
  more: Omit<AssertTests, 'statements'> = {},
): Promise<(string | undefined)[]> {
  const { verdicts } = await judge(code, { ...more, statements });
  return verdicts.map(({ passed, problem }) => (passed ? undefined : problem));
}

const square = 'def f(x):\n    return x * x';

describe('The judge of assert statements', () => {
  describe('looking for a name', () => {
    test('finds what the program defines, and the entry as candidate', async () => {
      const statements = ['assert f(3) == LIMIT', 'assert candidate(3) == 9'];
      expect(await problems(`LIMIT = 9\n${square}`, statements, { entry: 'f' })).toEqual([
        undefined,
        undefined,
      ]);
    });

    test("prefers the tests' own built-ins, modules and functions", async () => {
      const code =
        'def sorted(x): return 1\ndef check(x): return 1\nclass math:\n    pi = 1\ndef f(x): return x';
      const setup = 'import math\ndef check(x): return 2';
      const statements = [
        'assert sorted(f([2, 1])) == [1, 2]',
        'assert check(0) == 2 and math.pi > 3',
      ];
      expect(await problems(code, statements, { setup })).toEqual([undefined, undefined]);
    });

    test('finds a built-in of the program only if the task requires it, and never the real one', async () => {
      const statements = ['assert sum([1, 2]) == 7'];
      const names = ['sum'];
      expect(await problems('def sum(x): return 7', statements, { names })).toEqual([undefined]);
      const real = ['assert sum([1, 2]) == 3'];
      const missing = ["NameError: name 'sum' is not defined"];
      expect(await problems('x = 1', real, { names })).toEqual(missing);
      expect(await problems('x = 1', real, { entry: 'sum' })).toEqual(missing);
    });

    test('finds only what the task requires of the program, if it names anything', async () => {
      const code = 'def helper(x): return 1\ndef f(x): return x';
      expect(await problems(code, ['assert f(1)', 'assert helper(1)'], { names: ['f'] })).toEqual([
        undefined,
        "NameError: name 'helper' is not defined",
      ]);
    });

    test('finds nothing that is neither callable nor plain data', async () => {
      const code = 'import re as module\nclass A: pass\nmade = A()\ndef f(x): return x';
      expect(await problems(code, ['module', 'made', 'assert f(2) == 2'])).toEqual([
        "NameError: name 'module' is not defined",
        "NameError: name 'made' is not defined",
        undefined,
      ]);
    });

    test('finds the program as a module named solution', async () => {
      const statements = [
        'from solution import f as g\nassert g(2) == 4',
        'import solution\nassert solution.f(3) == 9',
      ];
      expect(await problems(square, statements)).toEqual([undefined, undefined]);
    });
  });

  describe('handing over a value', () => {
    test.each([
      ['a range', 'range(1, 9, 2)', 'range(1, 9, 2)'],
      ['an iterator, made anew', '(i for i in (1, 2))', 'iter([1, 2])'],
      ['a decimal', 'Decimal("1.50")', 'Decimal("1.50")'],
      ['a fraction', 'Fraction(1, 3)', 'Fraction(1, 3)'],
      ['a date', 'date(2020, 1, 2)', 'date(2020, 1, 2)'],
      ['a deque', 'deque([1, 2])', 'deque([1, 2])'],
      ['a type of plain data', 'type(1.5)', 'float'],
      ['the keys of a dictionary', '{1: 2}.keys()', '[1]'],
    ])('gives the tests %s', async (_name, returned, expected) => {
      const imports =
        'from decimal import Decimal\nfrom fractions import Fraction\nfrom datetime import date\nfrom collections import deque';
      const code = `${imports}\ndef f():\n    return ${returned}\ndef same(x):\n    return x`;
      const listed = ' list(x) if hasattr(x, "__iter__") and not isinstance(x, type) else x';
      const statements = [
        `assert shown(f()) == shown(${expected})`,
        `assert shown(same(${expected})) == shown(${expected})`,
      ];
      const setup = `${imports}\ndef shown(x): return${listed}`;
      expect(await problems(code, statements, { setup, names: ['f', 'same'] })).toEqual([
        undefined,
        undefined,
      ]);
    });

    test('copies it, so that the program cannot change an argument', async () => {
      const code = 'def f(xs):\n    xs.append(1)\n    return len(xs)';
      expect(await problems(code, ['xs = [0]\nassert f(xs) == 2 and xs == [0]'])).toEqual([
        undefined,
      ]);
    });

    test('raises exceptions by the names of built-in ones, and gives the program no other control', async () => {
      const code =
        'class Own(Exception): pass\ndef f(kind):\n    raise {"value": ValueError("v"), "stop": StopIteration(), "own": Own("o"), "decode": UnicodeDecodeError("utf-8", b"", 0, 1, "d")}[kind]';
      const caught = (kind: string, name: string): string =>
        `try:\n    f("${kind}")\nexcept ${name}:\n    pass\nelse:\n    assert False`;
      expect(
        await problems(code, [
          caught('value', 'ValueError'),
          'assert all(map(f, ["stop"]))',
          'f("own")',
          'f("decode")',
          'f("none")',
        ]),
      ).toEqual([
        undefined,
        'SolutionRaised: StopIteration:',
        'SolutionRaised: Own: o',
        expect.stringContaining('SolutionRaised: UnicodeDecodeError: '),
        'KeyError: "\'none\'"',
      ]);
    });
  });

  describe('given an object', () => {
    const stack =
      'class Stack:\n    size = 0\n    def __init__(self, *items): self.items = list(items)\n    def push(self, x):\n        self.items.append(x)\n        return self\n    def top(self): return self.items[-1]\n    def __eq__(self, o): return True\n    def __len__(self): return 1\n    __hash__ = None\ndef make(): return Stack()\ndef top_of(stack): return stack.top()';

    test('offers its attributes and methods, and hands it back', async () => {
      const statements = [
        's = Stack(1)\nassert s.push(2).top() == 2 and s.items == [1, 2]',
        's = Stack(1)\ns.size = 5\nassert s.size == 5 and top_of(s) == 1',
        'assert not hasattr(Stack(), "absent")',
      ];
      expect(await problems(stack, statements)).toEqual([undefined, undefined, undefined]);
    });

    test('shares what is set on it or its class', async () => {
      const statements = ['s = Stack()\nStack.size = 7\nassert s.size == 7 and Stack.size == 7'];
      expect(await problems(stack, statements)).toEqual([undefined]);
    });

    test('refuses every use of it as a value', async () => {
      const uses =
        's == 1|1 == s|s != 1|s|not s|len(s)|s in [1]|1 in s|s < 1|int(s)|list(s)|s + 1|s[0]|s()';
      const statements = uses.split('|').map((use) => `s = Stack()\nassert ${use}`);
      const refused = 'TypeError: an object of the solution is not a value';
      expect(await problems(stack, statements)).toEqual(statements.map(() => refused));
      expect(await problems(stack, ['hash(Stack())', 'assert str(Stack()) == "1"'])).toEqual([
        "TypeError: unhashable type: 'Handle'",
        'AssertionError',
      ]);
    });

    test('makes it only of a class that the tests name, or with a capital', async () => {
      const code =
        'class f:\n    def __init__(self, x): pass\n    def startswith(self, x): return True';
      const statements = ['assert f(1).startswith("a")'];
      const refused =
        'ValueError: returned an object; only a class that the tests name may make one';
      expect(await problems(code, statements)).toEqual([refused]);
      expect(await problems(code, statements, { classes: ['f'] })).toEqual([undefined]);
      expect(await problems(stack, ['Stack().top'], { classes: [] })).toEqual([refused]);
    });

    test('refuses a type by a false name', async () => {
      const code = 'class int: pass\ndef f(): return int';
      expect(await problems(code, ['assert f() == int'])).toEqual([
        'ValueError: returned a value of type type, which is not plain data',
      ]);
    });

    test('refuses it as a return value', async () => {
      expect(await problems(stack, ['make()'])).toEqual([
        'ValueError: returned a value of type Stack, which is not plain data',
      ]);
    });
  });

  describe('given a class', () => {
    const shape =
      'class Shape:\n    SIDES = 4\n    _peer = name = "own"\n    def __init__(self, w): self.w = w\n    @staticmethod\n    def area(a, b=2): return a * b\n    @classmethod\n    def sides(cls): return cls.SIDES\n    @classmethod\n    def unit(cls): return cls(1)\n    def width(self): return self.w\n    class Inner:\n        def holds(self): return True\nmade = Shape(1)';

    test('offers its static methods, class methods and attributes', async () => {
      const statements = [
        'assert Shape.area(3) == 6 and Shape.area(3, b=4) == 12',
        'assert Shape.SIDES == 4 and Shape.sides() == 4',
        'assert Shape.width(Shape(5)) == 5',
        'assert Shape._peer == Shape.name == "own" and Shape.__name__ == "Shape"',
        'assert hasattr(Shape, "area") and not hasattr(Shape, "absent")',
        'Shape.area(1, 2, 3)',
      ];
      const wrong = expect.stringMatching(/^TypeError: .*positional argument/);
      expect(await problems(shape, statements)).toEqual([...Array(5).fill(undefined), wrong]);
    });

    test('makes an object only by calling it', async () => {
      const statements = ['Shape.unit()', 'Shape.Inner()', 'Shape.Inner().holds()'];
      expect(await problems(shape, statements)).toEqual([
        'ValueError: returned a value of type Shape, which is not plain data',
        'ValueError: returned a value of type Inner, which is not plain data',
        'ValueError: returned a value of type Inner, which is not plain data',
      ]);
    });

    test('refuses to inherit from it or to hand it to the program', async () => {
      const statements = ['class Mine(Shape): pass', 'Shape.area(Shape)', 'isinstance(1, Shape)'];
      expect(await problems(shape, statements)).toEqual([
        expect.stringMatching(/^TypeError: /),
        'ValueError: returned a value of type Class, which is not plain data',
        expect.stringMatching(/^TypeError: isinstance/),
      ]);
    });

    test('offers it only if the tests name it, or it has a capital', async () => {
      const statements = ['assert shape.area(3) == 6'];
      const small = `${shape}\nshape = Shape`;
      expect(await problems(small, statements)).toEqual([
        "AttributeError: 'function' object has no attribute 'area'",
      ]);
      expect(await problems(small, statements, { classes: ['shape'] })).toEqual([undefined]);
    });
  });

  test('fails every test of a program that does not load, or with a setup that fails', async () => {
    const { status, verdicts } = await judge('1 / 0', { statements: ['f(1)', 'f(2)'] });
    const problem =
      'SolutionRaised: the solution did not load: ZeroDivisionError: division by zero';
    expect({ status, verdicts }).toEqual({
      status: 'error',
      verdicts: [
        { passed: false, problem },
        { passed: false, problem },
      ],
    });
    expect(await problems(square, ['f(1)'], { setup: 'absent + 1' })).toEqual([
      "NameError: name 'absent' is not defined",
    ]);
  });

  test('refuses values that are too large to be sent, and goes on', async () => {
    const code = 'def f(x=0, y=0, z=0):\n    return "x" * 5_000_000 if x == 1 else 0';
    const large = '"x" * 4_000_000';
    expect(
      await problems(code, ['f(1)', `f(${large}, ${large}, ${large})`, 'assert f(2) == 0']),
    ).toEqual([
      'ValueError: returned a value that is too large',
      'ValueError: a message between the sandboxes is too large',
      undefined,
    ]);
  });

  test('refuses coroutines, and arguments that are not plain data', async () => {
    const run = 'import asyncio\nassert asyncio.run(f(1)) == 1';
    expect(await problems('async def f(x): return x', [run])).toEqual([
      'ValueError: returned a value of type coroutine, which is not plain data',
    ]);
    expect(await problems(square, ['f(lambda x: x)', 'assert f(2) == 4'])).toEqual([
      'ValueError: returned a value of type function, which is not plain data',
      undefined,
    ]);
  });

  test('refuses an endless generator, not a long one', async () => {
    const code =
      'import itertools\ndef f(n):\n    return (i for i in (range(n) if n else itertools.count()))';
    expect(await problems(code, ['assert len(list(f(100_000))) == 100_000', 'list(f(0))'])).toEqual(
      [undefined, 'ValueError: returned an iterator of more than 100000 items'],
    );
  });

  test("shows the program's own frames in a traceback", async () => {
    const code = 'def f(x):\n    raise KeyboardInterrupt';
    const { status, exitCode, stderr } = await judge(code, { statements: ['f(1)'] });
    expect({ status, exitCode }).toEqual({ status: 'error', exitCode: 1 });
    expect(stderr).toMatch(/^Traceback[^\n]*\n  File "main.py", line 2, in f\n/);
  });

  (hasPython ? describe : describe.skip)('given a forged frame (skipped without python3)', () => {
    /** What the judge says with a peer, played in this process, that answers every question alike. */
    const saidOf = (hello: string, answer: string, statements: readonly string[]): unknown =>
      withHarness(
        `
from harness import asserts
class Canned:
    def __init__(self): self.asked = []
    def send(self, text): self.asked.append(json.loads(text))
    def receive(self):
        return given['hello'] if not self.asked else given['answer']
said = []
asserts.judge(given['tests'], Canned(), said.append)
print(json.dumps([json.loads(line) for line in said]))`,
        { hello, answer, tests: { statements } },
      );

    test('refuses one that speaks of objects', () => {
      const hello = '{"names":[["f","function"],["g","value"]]}';
      const statements = ['assert f(1)', 'assert f(1).anything()', 'assert g'];
      const refused =
        'ValueError: returned an object; only a class that the tests name may make one';
      expect(saidOf(hello, '{"value":{"$object":[0,""]}}', statements)).toEqual([
        { index: 0, passed: false, problem: refused },
        { index: 1, passed: false, problem: refused },
        { index: 2, passed: false, problem: "NameError: name 'g' is not defined" },
      ]);
    });

    test('refuses one that gives an object for an attribute of a class', () => {
      const hello = '{"names":[["Shape","class"]]}';
      const statements = ['assert Shape.area', 'assert Shape.area == 1', 'Shape.area = 1'];
      const refused =
        'ValueError: returned an object; only a class that the tests name may make one';
      expect(saidOf(hello, '{"value":{"$object":[0,""]}}', statements)).toEqual(
        statements.map((_, index) => ({ index, passed: false, problem: refused })),
      );
    });

    test('takes no built-ins from it', () => {
      const hello = '{"names":[["__builtins__","value"],["__name__","value"]]}';
      const statements = [
        'assert "len" in __builtins__ and len([1]) == 1',
        'assert __name__ == "tests"',
      ];
      expect(saidOf(hello, '{"value":{"len":5}}', statements)).toEqual([
        { index: 0, passed: true },
        { index: 1, passed: true },
      ]);
    });
  });
});
