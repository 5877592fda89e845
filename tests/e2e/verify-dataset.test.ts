import { describe, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { commandLine } from '../support/command-line.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const project = temporaryFolder();

const row = (task_id: string, tests: object, reference_solution: string): object => ({
  task_id,
  prompt: 'Do it.',
  compare: 'exact',
  tests,
  reference_solution,
});
const called = (entry: string, ...expected: unknown[]) => ({
  kind: 'calls',
  entry,
  cases: expected.map((value, i) => ({ args: [i], expected: value })),
});
const stated = (...code: string[]) => ({ kind: 'asserts', code });
const printed = (...cases: [input: string, output: string][]) => ({
  kind: 'stdin',
  cases: cases.map(([input, output]) => ({ input, output })),
});

describe('The command agent-rl data verify', () => {
  const verified = (file: string, ...args: string[]) =>
    commandLine(['data', 'verify', '--dataset', file, '--sandbox-workers', '1', ...args], { jobs });
  const fileOf = (rows: readonly object[]): string =>
    writeBelow(project, 'rows.jsonl', rows.map((one) => `${JSON.stringify(one)}\n`).join(''));

  test('runs every reference solution, of assert statements too, and names each that fails', async () => {
    const doubled = printed(['1', '2'], ['2', '4']);
    const squared = { ...stated('assert f(two) == 4'), setup: 'two = 2', public: ['assert f(1)'] };
    const { code, stdout } = await verified(
      fileOf([
        row('good', doubled, 'print(int(input()) * 2)'),
        row('bad', doubled, 'print(2)'),
        row('square', squared, 'def f(x): return x * x'),
        row('same', squared, 'def f(x): return x'),
      ]),
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL bad: 1 of 2 cases; /m);
    expect(stdout).toContain('FAIL same: 1 of 2 cases; "assert f(two) == 4": "AssertionError"');
    expect(stdout).toContain('2 of 4 reference solutions pass (50.0 %), sandbox ');
  });

  test('lists tasks whose full reward a constant answer earns', async () => {
    const file = fileOf([
      row('even', called('is_even', true, false), 'def is_even(n): return n % 2 == 0'),
      row('small', called('small', true, true), 'def small(n): return n < 9'),
      row('same', stated('assert g(3) == 3', 'assert g(4) == 4'), 'def g(x): return x'),
      row('none', stated('assert not h([1])', 'assert not h([])'), 'def h(x): return 0'),
      row('double', stated('assert g(3) == 6'), 'def g(x): return 2 * x'),
      row('echo', printed(['7', '7']), 'print(7)'),
      row('next', printed(['7', '8']), 'print(8)'),
    ]);
    const { code, stdout } = await verified(file, '--degenerate');
    expect(stdout.split('\n').filter((line) => line.startsWith('DEGENERATE'))).toEqual([
      'DEGENERATE small: full reward for True',
      'DEGENERATE same: full reward for its input',
      "DEGENERATE none: full reward for None, 0, '', []",
      'DEGENERATE echo: full reward for its input',
    ]);
    expect(stdout).toContain(
      '4 of 7 tasks give the full reward to a constant answer or to the input itself.',
    );
    expect(code).toBe(0);
    expect((await verified(file)).stdout).not.toContain('DEGENERATE');
  });
});
