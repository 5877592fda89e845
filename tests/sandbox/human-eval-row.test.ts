import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { judgeCode } from '#agent_rl/sandbox/judge/judge.ts';
import { CodeTaskDataset } from '#dataset/tasks/code-task-dataset.ts';
import { humanEvalRowReader } from '#dataset/tasks/human-eval-row.ts';
import { startedSandbox } from '../support/started-sandbox.ts';

const prompt = 'import math\n\ndef helper(x): return x\n\ndef root(x):\n    """The root."""\n';
const check = 'def check(candidate):\n    assert candidate(4) == helper(2)\n';
const row = (changes: object = {}): object => ({
  task_id: 'HumanEval/0',
  prompt,
  entry_point: 'root',
  canonical_solution: '    return math.sqrt(x)\n',
  test: check,
  ...changes,
});

describe('humanEvalRowReader', () => {
  test('gives the tests the code before the function, and takes only the function from the program', () => {
    const setup = `import math\n\ndef helper(x): return x\n\n\n${check}`;
    const named = { entry: 'root', names: ['root'], classes: [] };
    expect(humanEvalRowReader()(row(), 1)).toMatchObject({
      row: {
        taskId: 'HumanEval/0',
        prompt: `Complete this Python program. Answer with all of it.\n\n${prompt.trim()}`,
        starterCode: prompt,
        tests: { kind: 'asserts', setup, code: ['check(candidate)'], ...named },
        referenceSolution: `${prompt}    return math.sqrt(x)\n`,
      },
    });
  });

  test.each([
    ['prompt', { prompt: 'def roots(x):\n' }, 'but has no line "def root(".'],
    ['test', { test: 'assert root(4) == 2' }, 'but has no line "def check(".'],
    ['entry_point', { entry_point: 'a b' }, 'must match pattern'],
    ['extra', { extra: 1 }, 'is not a known key.'],
  ])('names what is wrong with %s', (path, changes, text) => {
    expect(humanEvalRowReader()(row(changes), 7)).toMatchObject({
      problems: [{ line: 7, path, text: expect.stringContaining(text) as unknown }],
    });
  });
});

const fixture = join(packageRoot(), 'tests', 'fixtures', 'human-eval', 'tasks.jsonl');

describe('The judge of HumanEval tasks', () => {
  const sandbox = startedSandbox();
  const judged = async (change: (code: string) => string) => {
    const { tasks } = await CodeTaskDataset.fromPath(fixture, { format: 'humaneval' });
    const verdicts = tasks.map(({ referenceSolution = '', tests, compare }) =>
      judgeCode(sandbox(), { code: change(referenceSolution), tests, compare }),
    );
    return (await Promise.all(verdicts)).map(({ passed, total }) => `${passed} of ${total}`);
  };

  test('passes their reference solutions', async () => {
    expect(await judged((code) => code)).toEqual(Array.from({ length: 5 }, () => '1 of 1'));
  });

  test.each([
    ['with its own check', 'def check(candidate): pass\ndef root(x): return 0'],
    [
      'whose helper agrees with everything',
      'class Yes(str):\n    __eq__ = lambda a, b: True\ndef shift(text): return ""\ndef unshift(text): return Yes()',
    ],
  ])('fails a program %s', async (_name, more) => {
    const body = /^ {4}(?:return|if) .*$/gm;
    const passes = await judged((code) => `${code.replace(body, '    pass')}\n${more}`);
    expect(passes).toEqual(Array.from({ length: 5 }, () => '0 of 1'));
  });
});
