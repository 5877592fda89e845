import { describe, expect, test } from '@jest/globals';

import type { RunResult } from '#agent_rl/core/services/sandbox.ts';
import {
  answerOf,
  bodyOf,
  endingOf,
  FusionAnswer,
  FusionBody,
  requestOf,
} from '#agent_rl/sandbox/remote/fusion.ts';
import { check } from '#agent_rl/sandbox/remote/protocol.ts';

const ran: RunResult = {
  status: 'ok',
  exitCode: 0,
  stdout: 'out',
  stderr: '',
  stdoutBytes: 3,
  stderrBytes: 0,
  truncated: false,
  wallMs: 1500,
  level: 'test',
};

describe('An answer in the format of SandboxFusion', () => {
  const ours = 'sandbox_error: ours';
  const cases: readonly [Partial<RunResult>, string, string, number | null, string][] = [
    [{}, 'Success', 'Finished', 0, ''],
    [{ status: 'error', exitCode: 3 }, 'Failed', 'Finished', 3, ''],
    [{ status: 'timeout' }, 'Failed', 'TimeLimitExceeded', null, ''],
    [{ status: 'signaled', signal: 'SIGSEGV' }, 'Failed', 'Finished', -11, 'signaled'],
    [{ status: 'memory_limit' }, 'Failed', 'Finished', -9, 'memory_limit'],
    [{ status: 'crashed', message: 'broken' }, 'Failed', 'Finished', -9, 'crashed: broken'],
    [{ status: 'sandbox_error', message: 'ours' }, 'SandboxError', 'Error', null, ours],
  ];

  test.each(cases)('says of a run %j: %s', (run, ...expected) => {
    const [status, runStatus, code, message] = expected;
    const { exitCode: _, ...without } = ran;
    const answer = answerOf({ ...(run.status === undefined ? ran : without), ...run });
    const told = { execution_time: 1.5, return_code: code, stdout: 'out', stderr: '' };
    expect(answer).toMatchObject({ status, message, run_result: { status: runStatus, ...told } });
    expect(check(FusionAnswer, answer)).toHaveProperty('value');
    const read = endingOf(answer);
    const { status: ended = 'ok', signal } = run;
    // By code -9 it is not said why it was ended.
    expect(read.status).toBe(code === -9 ? 'signaled' : ended);
    expect(read.signal).toBe(code === -9 ? 'SIGKILL' : signal);
  });

  test('says that the output was cut', () => {
    const { message } = answerOf({ ...ran, truncated: true, stdoutBytes: 99_999 });
    expect(message).toBe('the output was cut: 99999 bytes of stdout, 0 of stderr');
  });

  test('is a failure of the server, never a verdict, without a result', () => {
    const answer = { status: 'Failed', message: 'lost', run_result: null } as const;
    expect(endingOf(answer)).toMatchObject({ status: 'sandbox_error', message: 'lost' });
    const odd = { ...answer, message: '', run_result: { status: 'Error' } } as const;
    expect(endingOf(odd)).toMatchObject({ status: 'sandbox_error', message: 'no result' });
  });

  test('is no success if it says that the program failed', () => {
    const endings = [['Failed', null, 1] as const, ['Success', 2, 2] as const];
    for (const [status, return_code, exitCode] of endings) {
      const run_result = { status: 'Finished', return_code } as const;
      const ending = endingOf({ status, message: '', run_result });
      expect(ending).toMatchObject({ status: 'error', exitCode });
    }
  });
});

describe('A request in the format of SandboxFusion', () => {
  test('is understood as verl sends it', () => {
    const program = { code: 'print(1)', stdin: 'in', language: 'python' };
    const body = { ...program, compile_timeout: 5, run_timeout: 5, files: {}, fetch_files: [] };
    expect(check(FusionBody, body)).toEqual({ value: body });
    const request = { code: 'print(1)', stdin: 'in', limits: { wallS: 5 } };
    expect(requestOf(body as never)).toEqual(request);
  });

  test('may have a memory limit that is not positive, and files without content', () => {
    const files = { a: 'YQ==', b: null };
    const body = { code: '', language: 'python', memory_limit_MB: 128, files };
    const limits = { wallS: 10, memoryMiB: 128 };
    expect(requestOf(body as never)).toMatchObject({ files: { a: 'YQ==' }, limits });
    const none = { code: '', language: 'python', memory_limit_MB: -1, files: null, stdin: null };
    expect(check(FusionBody, none)).toHaveProperty('value');
    expect(requestOf(none as never)).toEqual({ code: '', stdin: '', limits: { wallS: 10 } });
  });

  test.each([
    [{ language: 'cpp' }, 'language'],
    [{ language: 'python', run_timeout: 0 }, 'run_timeout'],
    [{ language: 'python', fetch_files: ['a'] }, 'fetch_files'],
    [{ language: 'python', args: ['-x'] }, 'args'],
    [{ language: 'python', memory_limit_MB: 4096 }, 'memory_limit_MB'],
    [{ language: 'python', code: 5 }, 'code'],
    [{ language: 'python', timeout: 5 }, 'timeout'],
  ])('is refused if it cannot be met: %j', (more, path) => {
    const checked = check(FusionBody, { code: '', ...more });
    const problems = 'problems' in checked ? checked.problems : [];
    expect(problems.map((problem) => problem.path[0])).toContain(path);
  });

  test('can be made of a request of this package', () => {
    const limits = { wallS: 2, memoryMiB: 64 };
    const request = { code: 'x', stdin: 'y', files: { a: 'YQ==' }, limits };
    const body = bodyOf(request);
    expect(check(FusionBody, body)).toHaveProperty('value');
    expect(requestOf(body as never)).toEqual(request);
  });
});
