import { describe, expect, test } from '@jest/globals';

import type { AssertTests, JudgeResult } from '#agent_rl/core/services/sandbox.ts';
import { hasPython, withHarness } from '#tests/support/harness.ts';
import { startedSandbox } from '#tests/support/started-sandbox.ts';

const sandbox = startedSandbox();

const judge = (code: string, tests: AssertTests): Promise<JudgeResult> =>
  sandbox().execute({ kind: 'judge', code, tests });

const ok = 'passed';

/** Judges statements, each with the problem that it must have, or `ok`. */
async function expectJudged(code: string, expected: object, more: Partial<AssertTests> = {}) {
  const statements = Object.keys(expected);
  const { verdicts } = await judge(code, { ...more, statements });
  const came = verdicts.map(({ passed, problem }, i) => [statements[i], passed ? ok : problem]);
  expect(Object.fromEntries(came)).toEqual(expected);
}

const square = 'def f(x):\n    return x * x';
const undefinedName = (name: string): string => `NameError: name '${name}' is not defined`;
const notPlain = (type: string): string =>
  `ValueError: returned a value of type ${type}, which is not plain data`;
const unnamedClass =
  'ValueError: returned an object; only a class that the tests name may make one';

describe('The judge of assert statements', () => {
  describe('looking for a name', () => {
    test('finds what the program defines, and the entry as candidate', async () => {
      const expected = { 'assert f(3) == LIMIT': ok, 'assert candidate(3) == 9': ok };
      await expectJudged(`LIMIT = 9\n${square}`, expected, { entry: 'f' });
    });

    test("prefers the tests' own built-ins, modules and functions", async () => {
      const code =
        'def sorted(x): return 1\ndef check(x): return 1\nclass math:\n    pi = 1\ndef f(x): return x';
      const setup = 'import math\ndef check(x): return 2';
      const both = 'assert sorted(f([2, 1])) == [1, 2]\nassert check(0) == 2 and math.pi > 3';
      await expectJudged(code, { [both]: ok }, { setup });
    });

    test('finds a built-in of the program only if the task requires it, and never the real one', async () => {
      const names = ['sum'];
      await expectJudged('def sum(x): return 7', { 'assert sum([1, 2]) == 7': ok }, { names });
      const missing = { 'assert sum([1, 2]) == 3': undefinedName('sum') };
      await expectJudged('x = 1', missing, { names });
      await expectJudged('x = 1', missing, { entry: 'sum' });
    });

    test('finds only what the task requires of the program, if it names anything', async () => {
      const code = 'def helper(x): return 1\ndef f(x): return x';
      const expected = { 'assert f(1)': ok, 'assert helper(1)': undefinedName('helper') };
      await expectJudged(code, expected, { names: ['f'] });
    });

    test('finds nothing that is neither callable nor plain data', async () => {
      await expectJudged('import re as module\nclass A: pass\nmade = A()\ndef f(x): return x', {
        module: undefinedName('module'),
        made: undefinedName('made'),
        'assert f(2) == 2': ok,
      });
    });

    test('finds the program as a module named solution', async () => {
      await expectJudged(square, {
        'from solution import f as g\nassert g(2) == 4': ok,
        'import solution\nassert solution.f(3) == 9': ok,
      });
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
    ])('gives the tests %s', async (_name, returned, value) => {
      const imports =
        'from decimal import Decimal\nfrom fractions import Fraction\nfrom datetime import date\nfrom collections import deque';
      const code = `${imports}\ndef f():\n    return ${returned}\ndef same(x):\n    return x`;
      const listed = 'list(x) if hasattr(x, "__iter__") and not isinstance(x, type) else x';
      const both = `shown(f()) == shown(same(${value})) == shown(${value})`;
      const expected = { [`assert ${both}`]: ok };
      const setup = `${imports}\ndef shown(x): return ${listed}`;
      await expectJudged(code, expected, { setup, names: ['f', 'same'] });
    });

    test('copies it, so that the program cannot change an argument', async () => {
      const code = 'def f(xs):\n    xs.append(1)\n    return len(xs)';
      await expectJudged(code, { 'xs = [0]\nassert f(xs) == 2 and xs == [0]': ok });
    });

    test('raises exceptions by the names of built-in ones, and gives the program no other control', async () => {
      const code =
        'class Own(Exception): pass\ndef f(kind):\n    raise {"value": ValueError("v"), "stop": StopIteration(), "own": Own("o"), "decode": UnicodeDecodeError("utf-8", b"", 0, 1, "d")}[kind]';
      await expectJudged(code, {
        'try:\n    f("value")\nexcept ValueError:\n    pass\nelse:\n    assert False': ok,
        'assert all(map(f, ["stop"]))': 'SolutionRaised: StopIteration:',
        'f("own")': 'SolutionRaised: Own: o',
        'f("decode")': expect.stringContaining('SolutionRaised: UnicodeDecodeError: '),
        'f("none")': 'KeyError: "\'none\'"',
      });
    });
  });

  describe('given an object', () => {
    const stack =
      'class Stack:\n    size = 0\n    def __init__(self, *items): self.items = list(items)\n    def push(self, x):\n        self.items.append(x)\n        return self\n    def top(self): return self.items[-1]\n    def __eq__(self, o): return True\n    def __len__(self): return 1\n    __hash__ = None\ndef make(): return Stack()\ndef top_of(stack): return stack.top()';

    test('offers its attributes and methods, hands it back, and refuses it as a return value', async () => {
      await expectJudged(stack, {
        's = Stack(1)\nassert s.push(2).top() == 2 and s.items == [1, 2]': ok,
        's = Stack(1)\ns.size = 5\nassert s.size == 5 and top_of(s) == 1': ok,
        'assert not hasattr(Stack(), "absent")': ok,
        // What is set on its class is shared.
        's = Stack()\nStack.size = 7\nassert s.size == 7 and Stack.size == 7': ok,
        'make()': notPlain('Stack'),
      });
    });

    test('refuses every use of it as a value', async () => {
      const uses =
        's == 1|1 == s|s != 1|s|not s|len(s)|s in [1]|1 in s|s < 1|int(s)|list(s)|s + 1|s[0]|s()';
      const refused = 'TypeError: an object of the solution is not a value';
      const each = uses.split('|').map((use) => [`s = Stack()\nassert ${use}`, refused]);
      await expectJudged(stack, {
        ...(Object.fromEntries(each) as object),
        'hash(Stack())': "TypeError: unhashable type: 'Handle'",
        'assert str(Stack()) == "1"': 'AssertionError',
      });
    });

    test('makes it only of a class that the tests name, or with a capital', async () => {
      const code =
        'class f:\n    def __init__(self, x): pass\n    def startswith(self, x): return True';
      const statement = 'assert f(1).startswith("a")';
      await expectJudged(code, { [statement]: unnamedClass });
      await expectJudged(code, { [statement]: ok }, { classes: ['f'] });
      await expectJudged(stack, { 'Stack().top': unnamedClass }, { classes: [] });
    });

    test('refuses a type by a false name', async () => {
      const code = 'class int: pass\ndef f(): return int';
      await expectJudged(code, { 'assert f() == int': notPlain('type') });
    });
  });

  describe('given a class', () => {
    const shape =
      'class Shape:\n    SIDES = 4\n    _peer = name = "own"\n    def __init__(self, w): self.w = w\n    @staticmethod\n    def area(a, b=2): return a * b\n    @classmethod\n    def sides(cls): return cls.SIDES\n    @classmethod\n    def unit(cls): return cls(1)\n    def width(self): return self.w\n    class Inner:\n        def holds(self): return True\nmade = Shape(1)';

    test('offers its static methods, class methods and attributes', async () => {
      await expectJudged(shape, {
        'assert Shape.area(3) == 6 and Shape.area(3, b=4) == 12': ok,
        'assert Shape.SIDES == 4 and Shape.sides() == 4': ok,
        'assert Shape.width(Shape(5)) == 5': ok,
        'assert Shape._peer == Shape.name == "own" and Shape.__name__ == "Shape"': ok,
        'assert hasattr(Shape, "area") and not hasattr(Shape, "absent")': ok,
        'Shape.area(1, 2, 3)': expect.stringMatching(/^TypeError: .*positional argument/),
      });
    });

    test('makes an object only by calling it', async () => {
      await expectJudged(shape, {
        'Shape.unit()': notPlain('Shape'),
        'Shape.Inner()': notPlain('Inner'),
        'Shape.Inner().holds()': notPlain('Inner'),
      });
    });

    test('refuses to inherit from it or to hand it to the program', async () => {
      await expectJudged(shape, {
        'class Mine(Shape): pass': expect.stringMatching(/^TypeError: /),
        'Shape.area(Shape)': notPlain('Class'),
        'isinstance(1, Shape)': expect.stringMatching(/^TypeError: isinstance/),
      });
    });

    test('offers it only if the tests name it, or it has a capital', async () => {
      const small = `${shape}\nshape = Shape`;
      const statement = 'assert shape.area(3) == 6';
      const absent = "AttributeError: 'function' object has no attribute 'area'";
      await expectJudged(small, { [statement]: absent });
      await expectJudged(small, { [statement]: ok }, { classes: ['shape'] });
    });
  });

  test('fails every test of a program that does not load, or with a setup that fails', async () => {
    const problem =
      'SolutionRaised: the solution did not load: ZeroDivisionError: division by zero';
    await expectJudged('1 / 0', { 'f(1)': problem, 'f(2)': problem });
    await expectJudged(square, { 'f(1)': undefinedName('absent') }, { setup: 'absent + 1' });
  });

  test('refuses values that are too large to be sent, and goes on', async () => {
    const large = '"x" * 4_000_000';
    await expectJudged('def f(x=0, y=0, z=0):\n    return "x" * 5_000_000 if x == 1 else 0', {
      'f(1)': 'ValueError: returned a value that is too large',
      [`f(${large}, ${large}, ${large})`]:
        'ValueError: a message between the sandboxes is too large',
      'assert f(2) == 0': ok,
    });
  });

  test('refuses coroutines, and arguments that are not plain data', async () => {
    const run = 'import asyncio\nassert asyncio.run(f(1)) == 1';
    await expectJudged('async def f(x): return x', { [run]: notPlain('coroutine') });
    const expected = { 'f(lambda x: x)': notPlain('function'), 'assert f(2) == 4': ok };
    await expectJudged(square, expected);
  });

  test('refuses an endless generator, not a long one', async () => {
    const code =
      'import itertools\ndef f(n):\n    return (i for i in (range(n) if n else itertools.count()))';
    await expectJudged(code, {
      'assert len(list(f(100_000))) == 100_000': ok,
      'list(f(0))': 'ValueError: returned an iterator of more than 100000 items',
    });
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

    const allRefused = (...statements: readonly string[]) =>
      Object.fromEntries(statements.map((statement) => [statement, unnamedClass]));

    test.each<[string, string, string, Record<string, unknown>]>([
      [
        'speaks of objects',
        '["f","function"],["g","value"]',
        '{"value":{"$object":[0,""]}}',
        { 'assert f(1)': unnamedClass, 'f(1).any()': unnamedClass, 'assert g': undefinedName('g') },
      ],
      [
        'gives an object for an attribute of a class',
        '["Shape","class"]',
        '{"value":{"$object":[0,""]}}',
        allRefused('assert Shape.area', 'assert Shape.area == 1', 'Shape.area = 1'),
      ],
      [
        'gives built-ins of its own',
        '["__builtins__","value"],["__name__","value"]',
        '{"value":{"len":5}}',
        { 'assert "len" in __builtins__ and len([1]) == 1 and __name__ == "tests"': undefined },
      ],
    ])('does not believe one that %s', (_, names, answer, expected) => {
      const said = saidOf(`{"names":[${names}]}`, answer, Object.keys(expected));
      expect(said).toEqual(
        Object.values(expected).map((problem, index) =>
          problem === undefined ? { index, passed: true } : { index, passed: false, problem },
        ),
      );
    });
  });
});
