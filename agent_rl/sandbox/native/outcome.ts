import { constants } from 'node:os';

import type { RunResult, SandboxStatus } from '../../core/services/sandbox.ts';
import type { ProcessEnd, ProcessReply } from './protocol.ts';

/** What the harness wrote in addition to the program's output, parsed. */
export interface Notes {
  /** Whether the walls were up before the program started. */
  ready: boolean;
  interrupted: boolean;
  outOfMemory: boolean;
  /** Exit code of a session's program. */
  done: number | undefined;
  /** All other lines: results or verdicts. */
  results: readonly string[];
}

const known = {
  ready: '{"ready":true}',
  begun: '{"begun":true}',
  interrupted: '{"interrupted":true}',
  memory: '{"memory":true}',
} as const;

const isKnown: ReadonlySet<string> = new Set([known.begun, known.interrupted, known.memory]);

/** More lines than calls or statements ever write: a program that writes more must not hold up other programs. */
const mostLines = 2 ** 18;

/** A program can write notes of its own after the first line; they can only be about itself. */
export function readNotes(text: string): Notes {
  // What comes after the last line break was cut off.
  const [first, ...rest] = text.split('\n', mostLines).slice(0, -1).filter(Boolean);
  const ready = first === known.ready;
  const lines = ready || first === undefined ? rest : [first, ...rest];
  const done = lines.findLast((line) => line.startsWith('{"done":'));
  const others = lines.filter((line) => !isKnown.has(line) && line !== done);
  return {
    ready,
    interrupted: lines.includes(known.interrupted),
    outOfMemory: lines.includes(known.memory),
    done: done === undefined ? undefined : Number(/\d+/.exec(done)?.[0] ?? 1),
    results: others,
  };
}

interface Ending {
  status: SandboxStatus;
  exitCode?: number;
  signal?: string;
  message?: string;
}

/** How a process ended, according to the supervisor, the kernel and the harness. */
export function endingOf({ why, late, end, stderr }: ProcessReply, notes: Notes): Ending {
  if (end?.failed) return { status: 'sandbox_error', message: end.failed };
  if (!notes.ready && why !== 'cancelled') {
    // No program has started yet, so this is the harness's output.
    const output = Buffer.from(stderr, 'base64').toString('utf8').trim().slice(-300);
    const message = `the sandboxed process did not start${output && `: ${output}`}`;
    return { status: 'sandbox_error', message };
  }
  if (why === 'timeout' || why === 'output_limit') return { status: why };
  if (end?.status == null) return { status: 'sandbox_error', message: 'it ended without a report' };
  const { exitCode, signal } = decodeWait(end.status);
  if (late || notes.interrupted) return withCode('timeout', exitCode);
  if (notes.outOfMemory) return withCode('memory_limit', exitCode);
  if (signal !== undefined) return signalled(signal, end);
  if (exitCode === 0) return withCode(overDisk(end) ? 'disk_limit' : 'ok', exitCode);
  return withCode(end.disk_full ? 'disk_limit' : 'error', exitCode);
}

/** How a session's program ended when its process lives on. */
export function sessionEnding({ late }: ProcessReply, { interrupted, done = 1 }: Notes): Ending {
  if (late || interrupted) return { status: 'timeout', exitCode: 1 };
  if (done > 255) return { status: 'memory_limit', exitCode: 1 };
  return { status: done === 0 ? 'ok' : 'error', exitCode: done };
}

/** Only a watched folder can hold too much; on a disk of its own a program that continues when it is full has ended well. */
const overDisk = (end: ProcessEnd): boolean => end.disk_full && end.over_quota;

const withCode = (status: SandboxStatus, exitCode: number | undefined): Ending =>
  exitCode === undefined ? { status } : { status, exitCode };

function signalled(signal: number, end: ProcessEnd): Ending {
  if (signal === constants.signals.SIGXCPU) return { status: 'timeout' };
  if (signal === constants.signals.SIGXFSZ) return { status: 'file_limit' };
  if (end.over_quota) return { status: 'disk_limit' };
  const message = end.over_tasks && { message: 'it had more threads than allowed' };
  return { status: 'signaled', signal: nameOf(signal), ...message };
}

const nameOf = (signal: number): string =>
  Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ??
  `signal ${signal}`;

/** As waitpid(2) packs it: the signal in the low seven bits, the exit code above eight. */
function decodeWait(status: number): { exitCode?: number; signal?: number } {
  const signal = status & 0x7f;
  return signal === 0 ? { exitCode: (status >> 8) & 0xff } : { signal };
}

/** What a program wrote and used. */
export function outputOf(reply: ProcessReply, level: string): Omit<RunResult, 'status'> {
  const [stdout, stderr] = [reply.stdout, reply.stderr].map((text) => Buffer.from(text, 'base64'));
  const kept = { stdout: stdout ?? Buffer.of(), stderr: stderr ?? Buffer.of() };
  return {
    stdout: decoded(kept.stdout, reply.stdoutBytes),
    stderr: decoded(kept.stderr, reply.stderrBytes),
    stdoutBytes: reply.stdoutBytes,
    stderrBytes: reply.stderrBytes,
    truncated: reply.stdoutBytes > kept.stdout.length || reply.stderrBytes > kept.stderr.length,
    wallMs: reply.wallMs,
    cpuMs: reply.end ? reply.end.cpu_s * 1000 : undefined,
    peakRssBytes: reply.end ? reply.end.peak_kib * 1024 : undefined,
    level,
  };
}

/** A character cut by the cap is left out, not replaced. */
const decoded = (bytes: Buffer, written: number): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: written > bytes.length });
