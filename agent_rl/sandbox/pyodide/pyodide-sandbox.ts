import { AgentRlError, messageOf } from '../../core/errors.ts';
import type {
  CallsRequest,
  CallsResult,
  JudgeRequest,
  JudgeResult,
  RunRequest,
  RunResult,
  Sandbox,
  SandboxCapabilities,
  SandboxLimits,
  SandboxSession,
} from '../../core/sandbox.ts';
import { ChildPool, KilledItsChildren } from './child-pool.ts';
import { readCallResults } from './read-call-results.ts';
import { findDistribution } from './distribution.ts';
import type { ChildRequest, ChildResult } from './protocol.ts';
import { posixLimits } from './restricted-node.ts';
import { ensureSnapshot, userCacheFolder } from './snapshot.ts';

export interface PyodideSandboxOptions {
  /** Child processes, each of which runs one program at a time. Default 2. */
  readonly workers?: number;
  /** Where the snapshot is kept. Default: this user's cache folder. */
  readonly cacheFolder?: string;
  /** Limits of a program whose request names none. Default 10 s and 512 MiB. */
  readonly limits?: SandboxLimits;
}

const defaultLimits = { wallS: 10, memoryMiB: 512 } as const;
const mostMemoryMiB = 1024;
const mebibyte = 1024 * 1024;
const mostCodeChars = mebibyte;
const mostInputChars = 16 * mebibyte;
const level = `pyodide:permission${posixLimits ? '+ulimit' : ''}`;

const withoutOutput = {
  stdout: '',
  stderr: '',
  stdoutBytes: 0,
  stderrBytes: 0,
  truncated: false,
  wallMs: 0,
  level,
} as const;

const failed = (
  status: 'bad_request' | 'crashed' | 'sandbox_error',
  message: string,
): RunResult => ({
  ...withoutOutput,
  status,
  message,
});

/** Why a request cannot be run, or `undefined` when it can. */
function problemOf({ code, stdin = '' }: { code: unknown; stdin?: unknown }): string | undefined {
  if (typeof code !== 'string') return `code must be a string, got ${typeof code}`;
  if (code.length > mostCodeChars) {
    return `code has ${code.length} characters, at most ${mostCodeChars} are allowed`;
  }
  if (typeof stdin !== 'string') return `stdin must be a string, got ${typeof stdin}`;
  if (stdin.length <= mostInputChars) return undefined;
  return `stdin has ${stdin.length} characters, at most ${mostInputChars} are allowed`;
}

function checkedLimits({ wallS, memoryMiB }: Required<SandboxLimits>): {
  wallMs: number;
  memoryBytes: number;
} {
  if (!(wallS > 0 && wallS <= 3600)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `limits.wallS is ${wallS}; it must be above 0 and at most 3600 seconds.`,
    );
  }
  if (!(memoryMiB >= 64 && memoryMiB <= mostMemoryMiB)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `limits.memoryMiB is ${memoryMiB}; it must be from 64 to ${mostMemoryMiB}.`,
    );
  }
  return { wallMs: wallS * 1000, memoryBytes: Math.floor(memoryMiB) * mebibyte };
}

function resultOf({ id: _id, results: _results, ...result }: ChildResult): RunResult {
  return { ...result, level };
}

/**
 * Python in WebAssembly, which needs no Python installed and works on every system Node works on.
 *
 * From the inside out: CPython compiled to WebAssembly; in a bare V8 realm without code generation; in a
 * worker thread; in a child process with Node's permission flags, an empty environment and, on POSIX,
 * `ulimit`. The barrier is the first two: Node itself calls neither `vm` nor its permission flags a
 * security boundary. There are no threads, no processes, no sockets and no packages beyond the standard
 * library; clocks are real, all other results repeat with the seed.
 */
export class PyodideSandbox implements Sandbox {
  #closed = false;

  private constructor(
    private readonly pool: ChildPool,
    private readonly workers: number,
    private readonly limits: Required<SandboxLimits>,
  ) {}

  /**
   * Starts the child processes. The first use on a machine makes and attacks the snapshot, some seconds.
   *
   * @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID`
   */
  static async start({
    workers = 2,
    cacheFolder,
    limits,
  }: PyodideSandboxOptions = {}): Promise<PyodideSandbox> {
    if (!Number.isInteger(workers) || workers < 1 || workers > 256) {
      throw new AgentRlError(
        'CONFIG_INVALID',
        `The sandbox was given ${workers} workers; allowed are 1 to 256.`,
      );
    }
    const withDefaults = { ...defaultLimits, ...limits };
    checkedLimits(withDefaults);
    const distribution = findDistribution();
    const snapshotFolder = await ensureSnapshot(distribution, cacheFolder ?? userCacheFolder());
    const pool = new ChildPool({ snapshotFolder, pyodideFolder: distribution.folder }, workers);
    try {
      await pool.firstReady();
    } catch (cause) {
      await pool.close();
      throw new AgentRlError(
        'SANDBOX_UNAVAILABLE',
        `The Python sandbox does not start: ${messageOf(cause)} \`agent-rl doctor\` tells more.`,
        { cause },
      );
    }
    return new PyodideSandbox(pool, workers, withDefaults);
  }

  async run(request: RunRequest, signal?: AbortSignal): Promise<RunResult> {
    const { code, stdin = '', limits, seed = 0 } = request;
    const problem = problemOf(request);
    if (problem !== undefined) return failed('bad_request', problem);
    const result = await this.#submit(
      { code, stdin, seed, ...checkedLimits({ ...this.limits, ...limits }) },
      signal,
    );
    return 'id' in result ? resultOf(result) : result;
  }

  /**
   * All calls are made one after another in one run: a fresh heap for each would cost some 5 ms a call and
   * buys nothing, since what is expected never enters the sandbox. A call that does not return in time
   * ends the run, and the results of later calls are missing.
   */
  async calls(request: CallsRequest, signal?: AbortSignal): Promise<CallsResult> {
    const { code, entry, args, limits, seed = 0 } = request;
    const text = JSON.stringify(args);
    const problem = problemOf({ code, stdin: text });
    if (problem !== undefined) return { ...failed('bad_request', problem), results: [] };
    const child = {
      code,
      stdin: '',
      seed,
      ...checkedLimits({ ...this.limits, ...limits }),
      call: { entry, args: text },
    };
    const result = await this.#submit(child, signal);
    if (!('id' in result)) return { ...result, results: [] };
    const results = readCallResults(result.results ?? '[]');
    if (results !== undefined) return { ...resultOf(result), results };
    const message = 'the program tampered with its results';
    return { ...resultOf(result), status: 'crashed', message, results: [] };
  }

  async judge(_request: JudgeRequest): Promise<JudgeResult> {
    return { ...failed('sandbox_error', 'not built yet'), verdicts: [] };
  }

  openSession(): SandboxSession {
    throw new Error('not built yet');
  }

  capabilities(): SandboxCapabilities {
    return { backend: 'pyodide', level, python: '3.14', concurrency: this.workers };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.pool.close();
  }

  /** @throws the signal's reason when it is aborted */
  async #submit(
    request: Omit<ChildRequest, 'id'>,
    signal: AbortSignal | undefined,
  ): Promise<ChildResult | RunResult> {
    if (this.#closed) return failed('sandbox_error', 'the sandbox has been closed');
    signal?.throwIfAborted();
    try {
      return await this.pool.submit(request, signal);
    } catch (error) {
      signal?.throwIfAborted();
      // A program that kills every interpreter it is given is at fault, not the sandbox.
      if (error instanceof KilledItsChildren) return { ...failed('crashed', error.message) };
      return failed('sandbox_error', messageOf(error));
    }
  }
}
