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
  SessionRequest,
} from '../../core/services/sandbox.ts';
import { ChildPool, KilledItsChildren } from './child-pool.ts';
import { findDistribution } from './boot/distribution.ts';
import type { ChildRequest, ChildResult, ChildSettings } from './protocol.ts';
import { PyodideSession } from './pyodide-session.ts';
import { readCallResults } from '../requests/read-call-results.ts';
import { readVerdicts } from '../requests/read-verdicts.ts';
import {
  callsProblem,
  checkedLimits,
  checkSeconds,
  defaultLimits,
  filesProblem,
  programProblem,
  testsProblem,
} from '../requests/request-problems.ts';
import { failed, level, runResultOf } from './run-results.ts';
import { SandboxChild } from './sandbox-child.ts';
import { ensureSnapshot, userCacheFolder } from './boot/snapshot.ts';

export interface PyodideSandboxOptions {
  /** Child processes, each of which runs one program at a time. Default 2. */
  workers?: number;
  /** Where the snapshot is kept. Default: this user's cache folder. */
  cacheFolder?: string;
  /** Limits of a program whose request names none. Default 10 s and 512 MiB. */
  limits?: SandboxLimits;
}

const closed = 'the sandbox has been closed';
/** More than the JSON text of a verdict takes. */
const mostVerdictBytes = 8192;

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
  readonly #closing = new AbortController();
  /** Interpreters of sessions, beside those of the pool. */
  readonly #sessionChildren = new Set<SandboxChild>();

  private constructor(
    private readonly settings: ChildSettings,
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
    const settings = { snapshotFolder, pyodideFolder: distribution.folder };
    const pool = new ChildPool(settings, workers);
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
    return new PyodideSandbox(settings, pool, workers, withDefaults);
  }

  async run(request: RunRequest, signal?: AbortSignal): Promise<RunResult> {
    const { code, stdin = '', files = {}, limits, seed = 0 } = request;
    const problem = programProblem(request) ?? filesProblem(files);
    if (problem !== undefined) return failed('bad_request', problem);
    const result = await this.#submit(
      { code, stdin, files, seed, ...this.#checked(limits) },
      signal,
    );
    return 'id' in result ? runResultOf(result) : result;
  }

  /**
   * All calls are made one after another in one run: a fresh heap for each would cost some 5 ms a call and
   * buys nothing, since what is expected never enters the sandbox. A call that does not return in time
   * ends the run, and the results of later calls are missing.
   */
  async calls(request: CallsRequest, signal?: AbortSignal): Promise<CallsResult> {
    const { code, entry, args, limits, seed = 0 } = request;
    const problem = callsProblem(request);
    if (problem !== undefined) return { ...failed('bad_request', problem), results: [] };
    const task = { kind: 'calls', entry, args: JSON.stringify(args) } as const;
    const result = await this.#submit(
      { code, stdin: '', seed, ...this.#checked(limits), task },
      signal,
    );
    if (!('id' in result)) return { ...result, results: [] };
    const results = readCallResults(result.results ?? '[]');
    if (results !== undefined) return { ...runResultOf(result), results };
    const message = 'the program tampered with its results';
    return { ...runResultOf(result), status: 'crashed', message, results: [] };
  }

  /** The two interpreters share a child process and see nothing of each other but the bytes of their channel. */
  async judge(request: JudgeRequest, signal?: AbortSignal): Promise<JudgeResult> {
    const { code, tests, limits, seed = 0 } = request;
    const problem = programProblem({ code }) ?? testsProblem(tests);
    if (problem !== undefined) return { ...failed('bad_request', problem), verdicts: [] };
    const count = tests.statements.length;
    const task = {
      kind: 'judge',
      tests: JSON.stringify(tests),
      mostVerdictBytes: (count + 1) * mostVerdictBytes,
    } as const;
    const result = await this.#submit(
      { code, stdin: '', seed, ...this.#checked(limits), task },
      signal,
    );
    if (!('id' in result)) return { ...result, verdicts: [] };
    const verdicts = readVerdicts(result.verdicts ?? '', count);
    if (verdicts !== undefined) return { ...runResultOf(result), verdicts };
    const message = 'the tests said what is no verdict';
    return { ...runResultOf(result), status: 'crashed', message, verdicts: [] };
  }

  /**
   * Each session has a child process of its own from its first program on, however many there are: a session is held while
   * a model thinks, so one that waited for the end of another could wait for ever. There are as many as rollouts at work.
   *
   * @throws AgentRlError `CONFIG_INVALID`
   */
  openSession({ limits, seed = 0, totalWallS }: SessionRequest = {}): SandboxSession {
    const withDefaults = { ...this.limits, ...limits };
    checkedLimits(withDefaults);
    if (totalWallS !== undefined) checkSeconds('totalWallS', totalWallS);
    return new PyodideSession({
      limits: withDefaults,
      seed,
      totalWallS: totalWallS ?? 10 * withDefaults.wallS,
      start: () => this.#startSessionChild(),
      closing: this.#closing.signal,
    });
  }

  capabilities(): SandboxCapabilities {
    return { backend: 'pyodide', level, python: '3.14', concurrency: this.workers };
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error(closed));
    await Promise.all([
      this.pool.close(),
      ...[...this.#sessionChildren].map((child) => child.died),
    ]);
  }

  #startSessionChild(): SandboxChild {
    const child = new SandboxChild(this.settings);
    this.#sessionChildren.add(child);
    void child.died.then(() => this.#sessionChildren.delete(child));
    return child;
  }

  #checked(limits: SandboxLimits = {}): ReturnType<typeof checkedLimits> {
    return checkedLimits({ ...this.limits, ...limits });
  }

  /** @throws the signal's reason when it is aborted */
  async #submit(
    request: Omit<ChildRequest, 'id'>,
    signal: AbortSignal | undefined,
  ): Promise<ChildResult | RunResult> {
    if (this.#closing.signal.aborted) return failed('sandbox_error', closed);
    signal?.throwIfAborted();
    try {
      return await this.pool.submit(request, signal);
    } catch (error) {
      signal?.throwIfAborted();
      // A program that kills every interpreter it is given is at fault, not the sandbox.
      if (error instanceof KilledItsChildren) return failed('crashed', error.message);
      return failed('sandbox_error', messageOf(error));
    }
  }
}
