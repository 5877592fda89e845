import type { CodeTask, CodeTests } from '../../core/tasks/code-task.ts';
import type { Sandbox } from '../../core/services/sandbox.ts';
import { judgeCode } from '../../sandbox/judge/judge.ts';

/** Answers that need no look at the task, as Python. Printed, where programs are judged by what they print. */
const constants = ['None', '0', "''", '[]', 'True'] as const;
const input = 'its input';

/** The constant answers, and the input itself, that pass every hidden case of a task and so earn its full reward. */
export async function rewardedConstants(
  sandbox: Sandbox,
  { tests, compare }: CodeTask,
): Promise<readonly string[]> {
  const rewarded: string[] = [];
  for (const answer of [...constants, input]) {
    const code = programOf(answer, tests);
    const judged = await judgeCode(sandbox, { code, tests, compare, stopAtFirstFailure: true });
    if (judged.total > 0 && judged.passed === judged.total) rewarded.push(answer);
  }
  return rewarded;
}

function programOf(answer: string, tests: CodeTests): string {
  if (tests.kind === 'stdin') {
    if (answer === input) return 'import sys\nsys.stdout.write(sys.stdin.read())';
    return `print(${answer})`;
  }
  const value = answer === input ? 'arguments[0] if arguments else None' : answer;
  // In one step, since a name may be that of a built-in.
  return `def answer(*arguments, **options): return ${value}
globals().update(dict.fromkeys(${JSON.stringify(namesOf(tests))}, answer))`;
}

/** What a program has to define to be asked: the entry, and for statements every name that they call. */
function namesOf(tests: Exclude<CodeTests, { kind: 'stdin' }>): readonly string[] {
  if (tests.kind === 'calls') return [tests.entry];
  const { setup = '', code, entry = '', names = [] } = tests;
  const called = [setup, ...code].join('\n').matchAll(/(?<![\w.])([A-Za-z_]\w*)\s*\(/g);
  return [...new Set([entry, ...names, ...Array.from(called, ([, name = '']) => name)])];
}
