import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { makeAcmeProject, readJson, type Line } from '../support/acme-project.ts';
import { builtProgram } from '../support/built-program.ts';
import { commandLine } from '../support/command-line.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const ran = (...args: string[]) => agentRl(args, project);
const run = join(project, 'runs', 'small');

beforeAll(async () => {
  await makeAcmeProject(project);
  const args = ['--max-iterations', '1', '--set', 'run.name=small', '--set', 'eval.before=false'];
  const { code, stderr } = await ran('train', '--config', 'train.yaml', ...args);
  if (code !== 0) throw new Error(stderr);
});

describe('agent-rl eval', () => {
  test('of a run attempts its held-out tasks with its newest checkpoint, as the run itself did', async () => {
    const { code, stdout, stderr } = await ran('eval', run, '--json');
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const result = JSON.parse(stdout) as Line;
    expect(result).toMatchObject({
      model: join(run, 'checkpoints', 'step-1'),
      split: 'eval',
      n: 4,
    });
    const { after } = readJson(run, 'summary.json')['eval'] as { after: Line };
    expect(result['rewardMean']).toBe(after['rewardMean']);
  });

  test('of several models attempts the same tasks with each, and compares them with the first', async () => {
    const start = join(packageRoot(), 'model', 'starter');
    const several = ['--set', 'eval.samples=2', '--set', 'eval.temperature=1', '--json'];
    const { code, stdout, stderr } = await ran('eval', run, start, ...several);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const { models, ...shared } = JSON.parse(stdout) as { models: Line[] } & Line;
    expect(shared).toMatchObject({ config: join(run, 'config.yaml'), split: 'eval', tasks: 4 });
    expect(models).toMatchObject([
      { name: run, model: join(run, 'checkpoints', 'step-1'), n: 8 },
      { name: start, model: start, n: 8, difference: { tasks: 4 } },
    ]);
    expect(models[0]).not.toHaveProperty('difference');
    expect(Object.keys(models[1]?.['passAtK'] as object)).toEqual(['1', '2']);
    // Alone it is what it is beside others.
    const alone = await ran('eval', run, ...several);
    const { passAtK, avgAtK, intervalsAtK } = JSON.parse(alone.stdout) as Line;
    expect(models[0]).toMatchObject({ passAtK, avgAtK, intervalsAtK });
  });

  test('refuses one model named twice, and a folder without a model', async () => {
    const twice = await ran('eval', run, join(run, 'checkpoints', 'step-1'));
    expect(twice.code).toBe(2);
    expect(twice.stderr).toContain('are the same model');
    const none = await ran('eval', run, join(project, 'tasks'));
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('CHECKPOINT_INVALID')]);
  });

  test('of a folder that is not a run says so', async () => {
    const { code, stderr } = await ran('eval', join(project, 'tasks'));
    expect(code).toBe(2);
    expect(stderr).toContain('CHECKPOINT_INVALID');
  });
});

test('agent-rl chat shows one prompt and its answer by where the tokens came from', async () => {
  const { code, stdout, stderr } = await ran('chat', run, '--prompt', 'What is 2 + 2?');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/\[template\]<\|im_start\|>/);
  expect(stdout).toContain('[user]What is 2 + 2?');
  expect(stdout).toContain('[sampled]');
});

test('agent-rl doctor tells what is missing and lets no driver write beside it', () => {
  const { code, stdout, stderr } = builtProgram('agent-rl', ['doctor'], project);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^yes {2}sandbox .*, Python \d.*\n(?: +(?:skipped|misses): .*\n)* +does not protect against: /m,
  );
  expect(stdout).toMatch(/^yes {2}device cpu +ONNX Runtime, cpu/m);
  expect(stdout).toMatch(/^(yes|no ) {2}device webgpu /m);
  expect(stdout).toContain('The default job can run here.');
});

describe('agent-rl data verify', () => {
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
