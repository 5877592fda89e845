import { constants } from 'node:os';

import { type Static, type TSchema, Type } from '../../core/typebox.ts';
import { limitBounds, type RunRequest, type RunResult } from '../../core/services/sandbox.ts';

/*
 * SandboxFusion's `POST /run_code`, which verl and others use. It has no status for exceeded memory, output or disk: they
 * are reported as failed programs, and the message names the limit.
 */

const orNull = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema> | null>({ ...schema, nullable: true });
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Optional(orNull(schema));

/** The body that callers send. `compile_timeout`, which only other languages use, is accepted and has no effect. */
export const FusionBody = Type.Object(
  {
    code: Type.String(),
    language: Type.Literal('python'),
    stdin: nullable(Type.String()),
    compile_timeout: nullable(Type.Number()),
    run_timeout: nullable(Type.Number(limitBounds.wallS)),
    memory_limit_MB: nullable(Type.Integer({ maximum: limitBounds.memoryMiB.maximum })),
    files: nullable(Type.Record(Type.String(), orNull(Type.String()))),
    // Not supported here: a caller that asks for files must not conclude that there were no files.
    fetch_files: nullable(Type.Array(Type.String(), { maxItems: 0 })),
    args: nullable(Type.Array(Type.String(), { maxItems: 0 })),
  },
  { additionalProperties: false },
);

const CommandResult = Type.Object({
  status: Type.Enum(['Finished', 'Error', 'TimeLimitExceeded']),
  execution_time: nullable(Type.Number()),
  return_code: nullable(Type.Integer()),
  stdout: nullable(Type.String()),
  stderr: nullable(Type.String()),
});

export const FusionAnswer = Type.Object({
  status: Type.Enum(['Success', 'Failed', 'SandboxError']),
  message: Type.String(),
  compile_result: nullable(CommandResult),
  run_result: nullable(CommandResult),
  executor_pod_name: nullable(Type.String()),
  files: Type.Optional(Type.Record(Type.String(), Type.String())),
});

export type FusionAnswer = Static<typeof FusionAnswer>;
type CommandResult = Static<typeof CommandResult>;

const defaultRunS = 10;

/** A request to SandboxFusion as one of ours. A memory limit that is not positive means none, as there. */
export function requestOf(body: Static<typeof FusionBody>): RunRequest {
  const memoryMiB = body.memory_limit_MB ?? 0;
  const files = Object.entries(body.files ?? {}).filter(
    (file): file is [string, string] => file[1] !== null,
  );
  return {
    code: body.code,
    stdin: body.stdin ?? '',
    files: files.length > 0 ? Object.fromEntries(files) : undefined,
    limits: { wallS: body.run_timeout ?? defaultRunS, ...(memoryMiB > 0 && { memoryMiB }) },
  };
}

/** One of our requests as a request to SandboxFusion. */
export const bodyOf = ({ code, stdin = '', files = {}, limits = {} }: RunRequest) => ({
  code,
  language: 'python',
  stdin,
  compile_timeout: limits.wallS ?? defaultRunS,
  run_timeout: limits.wallS ?? defaultRunS,
  memory_limit_MB: limits.memoryMiB === undefined ? -1 : Math.floor(limits.memoryMiB),
  files,
  fetch_files: [] as string[],
});

/** Exit code of a program that was killed and has no exit code. */
const killedCode = -constants.signals.SIGKILL;

/** One of our results as an answer of SandboxFusion. */
export function answerOf(result: RunResult): FusionAnswer {
  const { status, exitCode, signal, stdout, stderr, wallMs } = result;
  const failed = status === 'sandbox_error';
  const late = status === 'timeout';
  const number = constants.signals[signal as NodeJS.Signals] as number | undefined;
  const code = exitCode ?? (number === undefined ? killedCode : -number);
  return {
    status: failed ? 'SandboxError' : status === 'ok' ? 'Success' : 'Failed',
    message: messageFor(result),
    compile_result: null,
    run_result: {
      status: failed ? 'Error' : late ? 'TimeLimitExceeded' : 'Finished',
      execution_time: wallMs / 1000,
      return_code: failed || late ? null : status === 'ok' ? 0 : code,
      stdout,
      stderr,
    },
    executor_pod_name: null,
    files: {},
  };
}

function messageFor({ status, message, truncated, ...counts }: RunResult): string {
  const plain = status === 'ok' || status === 'error' || status === 'timeout';
  const parts: string[] = plain ? [] : [status];
  if (message !== undefined) parts.push(message);
  if (truncated) {
    const { stdoutBytes, stderrBytes } = counts;
    parts.push(`the output was cut: ${stdoutBytes} bytes of stdout, ${stderrBytes} of stderr`);
  }
  return parts.join(': ');
}

type Ending = Pick<RunResult, 'status' | 'exitCode' | 'signal' | 'message'>;

/** How a run ended and what it printed, from an answer of SandboxFusion. */
export function endingOf(answer: FusionAnswer): Ending & { command: CommandResult } {
  const { status, message, run_result: run, compile_result: compile } = answer;
  const command = run ?? compile ?? { status: 'Error' };
  const note = message === '' ? {} : { message: message.slice(0, 500) };
  if (status === 'SandboxError' || command.status === 'Error') {
    return { status: 'sandbox_error', message: note.message ?? 'no result', command };
  }
  if (command.status === 'TimeLimitExceeded') return { status: 'timeout', ...note, command };
  const code = command.return_code ?? (status === 'Success' ? 0 : 1);
  if (status === 'Success' && code === 0) return { status: 'ok', exitCode: 0, ...note, command };
  if (code >= 0) return { status: 'error', exitCode: code, ...note, command };
  const signal = nameOfSignal(-code) ?? `signal ${-code}`;
  return { status: 'signaled', signal, ...note, command };
}

const nameOfSignal = (number: number): string | undefined =>
  Object.entries(constants.signals).find(([, known]) => known === number)?.[0];
