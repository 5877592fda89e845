import type { CallsCase, CodeTask, CodeTests } from '../../agent_rl/core/code-task.ts';
import type { PythonValue } from '../../agent_rl/core/python-value.ts';

import { mbppRowSchema, rowCheck } from '../row-schema.ts';
import type { RowReader } from '../task-row.ts';
import { NotALiteral, PythonLiteralReader } from './python-literal.ts';

/** A line of the MBPP file (Austin et al. 2021, https://arxiv.org/abs/2108.07732). */
interface MbppRow {
  readonly text: string;
  readonly code: string;
  readonly task_id: number | string;
  readonly test_setup_code: string;
  readonly test_list: readonly string[];
  readonly challenge_test_list: readonly string[];
}

/**
 * Reads MBPP rows. Rows whose asserts all call one function with plain values become `calls` tests, the first
 * of them public; the rest stay `asserts`, and their `metadata.needs` names the judge that can decide them.
 */
export function mbppRowReader(): RowReader {
  const check = rowCheck<MbppRow>(mbppRowSchema);
  return (row, line) => {
    const checked = check(row, line);
    return 'problems' in checked ? checked : { task: taskOf(checked.row) };
  };
}

function taskOf(row: MbppRow): CodeTask {
  const tests = testsOf(row);
  return {
    taskId: `mbpp-${row.task_id}`,
    prompt: `${row.text.trim()} It must pass: \`${row.test_list[0]?.trim() ?? ''}\`.`,
    starterCode: '',
    tests,
    compare: 'exact',
    referenceSolution: row.code.replaceAll('\r\n', '\n'),
    metadata: { source: 'mbpp', ...(tests.kind === 'asserts' ? { needs: 'assert-judge' } : {}) },
  };
}

function testsOf(row: MbppRow): CodeTests {
  const asserts = [...row.test_list, ...row.challenge_test_list];
  const calls = row.test_setup_code.trim() === '' ? asserts.map(callOf) : [];
  const [first] = calls;
  const isPlain = calls.every((call) => call !== undefined && call.entry === first?.entry);
  if (first === undefined || !isPlain || calls.length < 2) return assertsTests(row, asserts);
  const cases = calls.flatMap((call, i): CallsCase[] =>
    call === undefined
      ? []
      : [{ args: call.args, expected: call.expected, ...(i === 0 ? { public: true } : {}) }],
  );
  return { kind: 'calls', entry: first.entry, cases };
}

function assertsTests(row: MbppRow, asserts: readonly string[]): CodeTests {
  const setup = row.test_setup_code.replaceAll('\r\n', '\n');
  return { kind: 'asserts', ...(setup === '' ? {} : { setup }), code: asserts };
}

interface AssertedCall {
  readonly entry: string;
  readonly args: readonly PythonValue[];
  readonly expected: PythonValue;
}

/** The call of `assert f(literals) == literal`; nothing for an assert of any other form. */
export function callOf(assertion: string): AssertedCall | undefined {
  const head = /^\s*assert\s+([A-Za-z_]\w*)\s*\(/.exec(assertion);
  const entry = head?.[1];
  if (head === null || entry === undefined) return undefined;
  try {
    const reader = new PythonLiteralReader(assertion.slice(head[0].length));
    const args = reader.items(')');
    if (!reader.take('==')) return undefined;
    const expected = reader.value();
    return reader.ended ? { entry, args, expected } : undefined;
  } catch (error) {
    if (error instanceof NotALiteral) return undefined;
    throw error;
  }
}
