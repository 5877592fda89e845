import { argumentsProblem } from '../../core/python/python-arguments.ts';
import type { Fields } from '../../core/python/seen-value.ts';
import { fieldsProblem, type Problem, textProblem, textsProblem } from './problem.ts';

const mebibyte = 1024 * 1024;
const mostCodeChars = mebibyte;
const mostInputChars = 16 * mebibyte;
const mostTestChars = 4 * mebibyte;

export function programProblem({ code, stdin = '' }: { code: unknown; stdin?: unknown }): Problem {
  return textProblem('code', code, mostCodeChars) ?? textProblem('stdin', stdin, mostInputChars);
}

export function callsProblem(request: { code: unknown; entry: unknown; args: unknown }): Problem {
  const { code, entry, args } = request;
  return (
    programProblem({ code }) ??
    textProblem('entry', entry, mostCodeChars) ??
    argumentsProblem(args) ??
    textProblem('args as JSON', JSON.stringify(args), mostInputChars)
  );
}

const testFields = ['setup', 'statements', 'entry', 'names', 'classes'] as const;

export function testsProblem(tests: unknown): Problem {
  const problem = fieldsProblem('tests', tests, testFields);
  if (problem !== undefined) return problem;
  const { setup = '', statements, entry = '', names = [], classes = [] } = tests as Fields;
  return (
    textsProblem('tests.statements', statements) ??
    textsProblem('tests.names', names) ??
    textsProblem('tests.classes', classes) ??
    textProblem('tests.setup', setup, mostTestChars) ??
    textProblem('tests.entry', entry, mostTestChars) ??
    textProblem('tests as JSON', JSON.stringify(tests), mostTestChars)
  );
}
