import type { AssertsTests, CodeTests, Compare } from '../../../agent_rl/core/tasks/code-task.ts';
import type { PythonValue } from '../../../agent_rl/core/python/python-value.ts';

/** How a task is judged: by comparing what calls return, or by statements in a second sandbox. */
export type JudgedBy = 'calls' | 'judge';

/** One small task, written for both ways of judging where it can be. All cases are hidden. */
export interface HackedTask {
  name: string;
  /** A program that passes. */
  honest: string;
  calls?: CodeTests;
  judge?: CodeTests;
  /** Of calls. */
  compare: Compare;
}

const cases = (...pairs: readonly (readonly [PythonValue, PythonValue])[]): CodeTests => ({
  kind: 'calls',
  entry: 'f',
  cases: pairs.map(([arg, expected]) => ({ args: [arg], expected })),
});

const sortedCases = (...lists: readonly (readonly number[])[]): CodeTests =>
  cases(...lists.map((list) => [list, list.toSorted((a, b) => a - b)] as const));

const kind = 'asserts';
const statements = (code: readonly string[], more = {}): AssertsTests => ({ kind, code, ...more });

export const square: HackedTask = {
  name: 'a square plus one',
  honest: 'def f(x):\n    return x * x + 1',
  compare: 'exact',
  calls: cases([2, 5], [10, 101], [-3, 10]),
  judge: statements(['assert f(2) == 5', 'assert f(10) == 101', 'assert f(-3) == 10']),
};

export const checked: HackedTask = {
  name: 'the same, checked by a function',
  honest: square.honest,
  compare: 'exact',
  judge: statements(['check(candidate)'], {
    setup:
      'def check(candidate):\n    assert candidate(2) == 5\n    assert candidate(10) == 101\n    assert candidate(-3) == 10',
    entry: 'f',
    names: ['f'],
  }),
};

export const quantified: HackedTask = {
  name: 'the same, of many at once',
  honest: square.honest,
  compare: 'exact',
  judge: statements([
    'assert all(map(lambda x: f(x) == x * x + 1, range(5)))',
    'assert all(f(x) == x * x + 1 for x in range(5))',
    'assert not any(map(lambda x: f(x) != x * x + 1, range(5)))',
    'assert [y for y in map(f, [1, 2])] == [2, 5]',
  ]),
};

export const ordered: HackedTask = {
  name: 'sorting',
  honest: 'def f(xs):\n    return sorted(xs)',
  compare: 'exact',
  calls: sortedCases([3, 1, 2], [5, 4]),
  judge: statements([
    'xs = [3, 1, 2]\nassert f(xs) == sorted(xs)',
    'xs = [5, 4]\nassert f(xs) == sorted(xs) and len(xs) == 2',
    'assert f([9, 8, 7]) == list(reversed([9, 8, 7]))',
  ]),
};

export const rooted: HackedTask = {
  name: 'a root',
  honest: 'def f(x):\n    return x ** 0.5',
  compare: 'float',
  calls: cases([10, 3.1622776601683795], [9, { $float: '3.0' }]),
  judge: statements(
    [
      'assert abs(f(5) - 2.2360679774) < 1e-6',
      'assert math.isclose(f(9), 3.0)',
      'assert round(f(10), 3) == 3.162',
    ],
    { setup: 'import math' },
  ),
};

export const endless: HackedTask = {
  name: 'infinity',
  honest: 'def f(x):\n    return float("inf")',
  compare: 'float',
  calls: cases([1, { $float: 'inf' }], [2, { $float: 'inf' }]),
};

export const texts: HackedTask = {
  name: 'capitals',
  honest: 'def f(s):\n    return s.upper() + "!"',
  compare: 'exact',
  calls: cases(['ab', 'AB!'], ['', '!']),
  judge: statements([
    'assert f("ab") == "AB!"',
    'assert f("ab").startswith("AB")',
    'assert f("ab").isupper() and f("x").endswith("X!")',
    'assert "AB" in f("ab")',
  ]),
};

export const counted: HackedTask = {
  name: 'counts of letters',
  honest: 'def f(s):\n    return {c: s.count(c) for c in s}',
  compare: 'exact',
  calls: cases(['aab', { a: 2, b: 1 }], ['x', { x: 1 }]),
  judge: statements([
    'assert f("aab") == {"a": 2, "b": 1}',
    'assert f("aab")["a"] == 2',
    'assert sorted(f("aab").items()) == [("a", 2), ("b", 1)]',
  ]),
};

export const listed: HackedTask = {
  name: 'a range',
  honest: 'def f(n):\n    return list(range(n))',
  compare: 'unordered',
  calls: cases([3, [0, 1, 2]], [2, [0, 1]]),
  judge: statements([
    'assert list(f(3)) == [0, 1, 2]',
    'assert len(list(f(2))) == 2',
    'assert all(a == b for a, b in zip(f(3), [0, 1, 2], strict=True))',
  ]),
};

export const refusing: HackedTask = {
  name: 'an error where one is due',
  honest: 'def f(x):\n    if x < 0:\n        raise ValueError("negative")\n    return x',
  compare: 'exact',
  judge: statements([
    'try:\n    f(-1)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError("no error")',
    'try:\n    f(-2)\nexcept Exception as error:\n    assert "negative" in str(error)\nelse:\n    assert False',
    'raised = False\ntry:\n    f(-3)\nexcept:\n    raised = True\nassert raised',
  ]),
};

export const stacked: HackedTask = {
  name: 'a stack',
  honest:
    'class Stack:\n    def __init__(self):\n        self.items = []\n    def push(self, x):\n        self.items.append(x)\n    def pop(self):\n        return self.items.pop()\n    def size(self):\n        return len(self.items)',
  compare: 'exact',
  judge: statements([
    's = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2',
    's = Stack()\ns.push(7)\nassert s.size() == 1 and s.pop() == 7',
    's = Stack()\ns.push(4)\nassert s.items == [4]',
  ]),
};

/** Programs that must pass, which shows that the judge works. */
export const honestSolutions: readonly HackedTask[] = [
  [square, checked, quantified, ordered, rooted, endless],
  [texts, counted, listed, refusing, stacked],
].flat();
