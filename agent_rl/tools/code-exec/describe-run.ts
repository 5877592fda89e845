import { pythonRepr, type PythonValue } from '../../core/python/python-value.ts';
import type {
  AssertTests,
  CallsResult,
  JudgeResult,
  RunResult,
  SessionRun,
} from '../../core/services/sandbox.ts';
import type { ToolResult } from '../../core/plugins/tool.ts';
import { unreachable } from '../../core/unreachable.ts';

type Described = Required<Pick<ToolResult, 'content' | 'isError'>>;

const nothing = '[no output]';

const joined = (...parts: readonly string[]): string => parts.filter(Boolean).join('\n');

/**
 * What a program printed, or in a line why it ended. Short: a small model reads it.
 *
 * @param linesBefore lines that ran before the program's own and are not counted
 */
export function describeRun(run: RunResult, linesBefore = 0): Described {
  const printed = run.stdout.trimEnd();
  if (run.status !== 'ok') {
    return { content: joined(printed, endingOf(run, linesBefore)), isError: true };
  }
  return { content: joined(printed, warningOf(run)) || nothing, isError: false };
}

/** The same of a session's program, and whether the session ended with it. */
export function describeSessionRun(run: SessionRun): Described {
  const { content, isError } = describeRun(run);
  if (run.alive) return { content, isError };
  return { content: `${content}\nThe session ended: variables and files are gone.`, isError };
}

/** What a program printed and then what its function returned. */
export function describeCall(run: CallsResult, linesBefore = 0): Described {
  const [result] = run.results;
  if (run.status !== 'ok' || result === undefined) return { ...describeRun(run), isError: true };
  const printed = run.stdout.trimEnd();
  if (result.ok) {
    // The sandbox encodes results itself, so the value is one of Python's.
    return { content: joined(printed, pythonRepr(result.value as PythonValue)), isError: false };
  }
  return {
    content: joined(printed, withLine(run.stderr, result.problem, linesBefore)),
    isError: true,
  };
}

/**
 * What a program printed and which tests it passed. Why one failed is shown only where the tests have no setup: what is
 * raised may quote that, and it is hidden.
 */
export function describeTests(
  run: JudgeResult,
  { statements, setup }: AssertTests,
  linesBefore = 0,
): Described {
  if (run.status !== 'ok') return { ...describeRun(run, linesBefore), isError: true };
  const lines = statements.map((statement, i) => {
    const verdict = run.verdicts[i];
    if (verdict?.passed) return `passed: ${statement}`;
    const why = setup === undefined ? verdict?.problem : undefined;
    return why === undefined ? `failed: ${statement}` : `failed: ${statement} (${why})`;
  });
  const isError = !statements.every((_, i) => run.verdicts[i]?.passed === true);
  return { content: joined(run.stdout.trimEnd(), ...lines), isError };
}

const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;

function endingOf(run: RunResult, linesBefore: number): string {
  switch (run.status) {
    case 'timeout':
      // The time of the session, rather than that of the program, ran out.
      if (run.message !== undefined) return `Error: ${run.message}.`;
      return `Timed out after ${seconds(run.wallMs)}.`;
    case 'memory_limit':
      return 'Error: the program used too much memory.';
    case 'output_limit':
      return 'Error: the program printed too much.';
    case 'disk_limit':
    case 'file_limit':
      return 'Error: the program wrote too much to files.';
    case 'bad_request':
      return `Error: ${run.message ?? 'the program cannot be run'}.`;
    case 'crashed':
    case 'signaled':
      return 'Error: the program crashed Python.';
    case 'ok':
    case 'error':
    case 'sandbox_error': {
      const last = run.stderr.trimEnd().split('\n').at(-1) ?? '';
      return (
        withLine(run.stderr, last, linesBefore) ||
        `Error: the program ended with code ${run.exitCode ?? 1}.`
      );
    }
    default:
      return unreachable(run.status);
  }
}

/** The last line of the program itself that the error passed through, and the error. */
function withLine(stderr: string, problem: string, linesBefore: number): string {
  const lines = [...stderr.matchAll(/File "main\.py", line (\d+)/g)]
    .map(([, line]) => Number(line) - linesBefore)
    .filter((line) => line > 0);
  const line = lines.at(-1);
  return line === undefined || problem === '' ? problem : `Error on line ${line}: ${problem}`;
}

/** What a program that ended well said on standard error, if it said nothing else. */
const warningOf = ({ stdout, stderr }: RunResult): string =>
  stdout.trim() === '' ? stderr.trim().split('\n').slice(-3).join('\n') : '';
