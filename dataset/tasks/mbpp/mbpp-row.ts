import { type Static, Type } from '../../../agent_rl/core/typebox.ts';
import type { CallsCase, CodeTask, CodeTests } from '../../../agent_rl/core/tasks/code-task.ts';
import type { RowReader } from '../read-rows.ts';
import { closed, filled, rowCheck } from '../row-schema.ts';
import { NotALiteral, PythonLiteralReader } from './python-literal.ts';
import { referenceNames, usedNames } from './reference-names.ts';

/** A line of the MBPP file (Austin et al. 2021, https://arxiv.org/abs/2108.07732). */
const MbppRow = Type.Object(
  {
    text: filled,
    code: Type.String(),
    task_id: Type.Union([Type.Integer(), filled]),
    test_setup_code: Type.String(),
    test_list: Type.Array(filled, { minItems: 1 }),
    challenge_test_list: Type.Array(filled),
  },
  closed,
);
type MbppRow = Static<typeof MbppRow>;

/**
 * Reads MBPP rows. Rows whose asserts all call one function with plain values become `calls` tests; the rest stay
 * `asserts`. The first is public where there are more.
 */
export const mbppRowReader = (): RowReader<CodeTask> =>
  rowCheck(MbppRow, (row) => ({ row: taskOf(row) }));

function taskOf(row: MbppRow): CodeTask {
  const reference = row.code.replaceAll('\r\n', '\n');
  return {
    taskId: `mbpp-${row.task_id}`,
    prompt: `${row.text.trim()} It must pass: \`${row.test_list[0]?.trim() ?? ''}\`.`,
    starterCode: '',
    tests: testsOf(row, reference),
    compare: 'exact',
    referenceSolution: reference,
    metadata: { source: 'mbpp' },
  };
}

function testsOf(row: MbppRow, reference: string): CodeTests {
  const asserts = [...row.test_list, ...row.challenge_test_list];
  const calls = asserts.flatMap((one) => callOf(one) ?? []);
  const [first] = calls;
  const isPlain =
    row.test_setup_code.trim() === '' &&
    calls.length === asserts.length &&
    calls.every(({ entry }) => entry === first?.entry);
  if (first === undefined || !isPlain || calls.length < 2) {
    return assertsTests(row.test_setup_code.replaceAll('\r\n', '\n'), asserts, reference);
  }
  const cases = calls.map(({ args, expected }, i) =>
    i === 0 ? { args, expected, public: true } : { args, expected },
  );
  return { kind: 'calls', entry: first.entry, cases };
}

/**
 * Of a program the tests get what the reference defines and they use. What they use of its imports they import
 * themselves, since a module never leaves the sandbox of the program.
 */
function assertsTests(
  setup: string,
  [first = '', ...rest]: readonly string[],
  reference: string,
): CodeTests {
  const { defined, classes, imports } = referenceNames(reference);
  const used = usedNames([setup, first, ...rest].join('\n'));
  const names = [...defined].filter((name) => used.has(name));
  const needed = [...imports].filter(([name]) => used.has(name)).map(([, statement]) => statement);
  const whole = [...needed, setup].filter((part) => part.trim() !== '').join('\n');
  return {
    kind: 'asserts',
    ...(whole === '' ? {} : { setup: whole }),
    ...(rest.length === 0 ? { code: [first] } : { code: rest, public: [first] }),
    names,
    classes: names.filter((name) => classes.has(name)),
  };
}

/** The call of `assert f(literals) == literal`; nothing for an assert of any other form. */
export function callOf(assertion: string): (CallsCase & { entry: string }) | undefined {
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
