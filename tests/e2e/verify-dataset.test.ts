import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { commandLine } from '../support/command-line.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const project = temporaryFolder();

describe('The command agent-rl data verify', () => {
  const verified = (...args: string[]) => commandLine(['data', 'verify', ...args], { jobs });
  const row = (id: string, solution: string): string =>
    `${JSON.stringify({
      task_id: id,
      prompt: 'Double the number.',
      compare: 'whitespace',
      tests: {
        kind: 'stdin',
        cases: [
          { input: '1', output: '2', public: true },
          { input: '2', output: '4' },
        ],
      },
      reference_solution: solution,
    })}\n`;

  test('runs every reference solution and names each that fails', async () => {
    const file = writeBelow(
      project,
      'own.jsonl',
      row('good', 'print(int(input()) * 2)') + row('bad', 'print(2)'),
    );
    const { code, stdout } = await verified('--dataset', file, '--sandbox-workers', '1');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL bad: 1 of 2 cases; /);
    expect(stdout).toContain('1 of 2 reference solutions pass (50.0 %), sandbox ');
  });

  test('judges assert statements', async () => {
    const line = (task_id: string, reference_solution: string): string =>
      `${JSON.stringify({
        task_id,
        prompt: 'Write f.',
        compare: 'exact',
        tests: {
          kind: 'asserts',
          setup: 'two = 2',
          code: ['assert f(two) == 4'],
          public: ['assert f(1) == 1'],
        },
        reference_solution,
      })}\n`;
    const file = writeBelow(
      project,
      'asserts.jsonl',
      line('good', 'def f(x): return x * x') + line('bad', 'def f(x): return x'),
    );
    const args = ['--dataset', file, '--sandbox-workers', '1'];
    const { code, stdout } = await verified(...args);
    expect(code).toBe(1);
    expect(stdout).toContain('FAIL bad: 1 of 2 cases; "assert f(two) == 4": "AssertionError"');
    expect(stdout).toContain('1 of 2 reference solutions pass (50.0 %), sandbox ');
  });

  test('lists tasks whose full reward a constant answer earns', async () => {
    const task = (task_id: string, tests: object, reference_solution: string): string =>
      `${JSON.stringify({ task_id, prompt: 'Do it.', compare: 'exact', tests, reference_solution })}\n`;
    const called = (entry: string, ...expected: unknown[]) => ({
      kind: 'calls',
      entry,
      cases: expected.map((value, i) => ({ args: [i], expected: value })),
    });
    const stated = (...code: string[]) => ({ kind: 'asserts', code });
    const printed = (input: string, output: string) => ({
      kind: 'stdin',
      cases: [{ input, output }],
    });
    const file = writeBelow(
      project,
      'degenerate.jsonl',
      [
        task('even', called('is_even', true, false), 'def is_even(n): return n % 2 == 0'),
        task('small', called('small', true, true), 'def small(n): return n < 9'),
        task('same', stated('assert g(3) == 3', 'assert g(4) == 4'), 'def g(x): return x'),
        task('none', stated('assert not h([1])', 'assert not h([])'), 'def h(x): return 0'),
        task('double', stated('assert g(3) == 6'), 'def g(x): return 2 * x'),
        task('echo', printed('7', '7'), 'print(7)'),
        task('next', printed('7', '8'), 'print(8)'),
      ].join(''),
    );
    const args = ['--dataset', file, '--sandbox-workers', '1'];
    const { code, stdout } = await verified(...args, '--degenerate');
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
    expect((await verified(...args)).stdout).not.toContain('DEGENERATE');
  });

  test("reads MBPP's own format", async () => {
    const rows = [
      {
        task_id: 1,
        text: 'Write a function to pair a number with its square.',
        code: 'def pair(n):\n    return (n, n * n)',
        test_list: ['assert pair(2) == (2, 4)', 'assert pair(3) == (3, 9)'],
        test_setup_code: '',
        challenge_test_list: [],
      },
      {
        task_id: 2,
        text: 'Write a function to find a root.',
        code: 'def root(n):\n    return n ** 0.5',
        test_list: ['assert abs(root(2) - 1.41) < 0.01'],
        test_setup_code: '',
        challenge_test_list: [],
      },
    ];
    const file = writeBelow(
      project,
      'mbpp.jsonl',
      rows.map((one) => `${JSON.stringify(one)}\n`).join(''),
    );
    const args = [
      '--dataset',
      file,
      '--format',
      'mbpp',
      '--sandbox-type',
      'pyodide',
      '--sandbox-workers',
      '1',
      '--json',
    ];
    const { code, stdout, stderr } = await verified(...args);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ tasks: 2, judged: 2, passed: 2, failed: [] });
    expect(JSON.parse(stdout)).toMatchObject({
      sandboxLevel: expect.stringMatching(/^pyodide/) as unknown,
      sandboxesSkipped: [],
    });
  });

  test("reads HumanEval's own format", async () => {
    const file = join(packageRoot(), 'tests', 'fixtures', 'human-eval', 'tasks.jsonl');
    const { code, stdout } = await verified('--dataset', file, '--format', 'humaneval');
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toContain('5 of 5 reference solutions pass (100.0 %), sandbox ');
  });
});
