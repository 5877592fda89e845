import { AgentRlError, messageOf } from '../../core/errors.ts';
import type {
  RequestKind,
  RunRequest,
  Sandbox,
  SandboxCapabilities,
  SandboxRequest,
  SandboxResults,
  SandboxSession,
  SessionRequest,
} from '../../core/services/sandbox.ts';
import { ChildPool, KilledItsChildren } from './child-pool.ts';
import { findDistribution } from './boot/distribution.ts';
import type { ChildRequest, ChildResult, ChildSettings } from './protocol.ts';
import { PyodideSession } from './pyodide-session.ts';
import { withCallResults } from '../requests/read-call-results.ts';
import { readVerdicts } from '../requests/read-verdicts.ts';
import { defaultLimits } from '../requests/request-problems.ts';
import { bareResult } from '../requests/result-without-output.ts';
import { childLimits, failed, level, runResultOf } from './run-results.ts';
import { SandboxChild } from './sandbox-child.ts';
import { ensureSnapshot, userCacheFolder } from './boot/snapshot.ts';

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
  /** Interpreters of sessions, in addition to the pool's. */
  readonly #sessionChildren = new Set<SandboxChild>();

  private constructor(
    private readonly settings: ChildSettings,
    private readonly pool: ChildPool,
    private readonly workers: number,
  ) {}

  /**
   * Starts the child processes. The first use on a machine makes and tests the snapshot, which takes a few seconds.
   *
   * @param options.workers child processes, each of which runs one program at a time
   * @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID`
   */
  static async start({ workers = 2 }: { workers?: number } = {}): Promise<PyodideSandbox> {
    if (!Number.isInteger(workers) || workers < 1 || workers > 256) {
      throw new AgentRlError(
        'CONFIG_INVALID',
        `The sandbox was given ${workers} workers. Set a whole number from 1 to 256.`,
      );
    }
    const distribution = findDistribution();
    const snapshotFolder = await ensureSnapshot(distribution, userCacheFolder());
    const settings = { snapshotFolder, pyodideFolder: distribution.folder };
    const pool = new ChildPool(settings, workers);
    try {
      await pool.firstReady();
    } catch (cause) {
      await pool.close();
      throw new AgentRlError(
        'SANDBOX_UNAVAILABLE',
        `The Python sandbox does not start: ${messageOf(cause)} Run \`agent-rl doctor\` for details.`,
        { cause },
      );
    }
    return new PyodideSandbox(settings, pool, workers);
  }

  readonly execute: Sandbox['execute'] = async (request, signal) => {
    const { kind } = request;
    const { ask, answer } = exchanges[kind];
    if (this.#closing.signal.aborted) return bareResult(kind, failed('sandbox_error', closed));
    signal?.throwIfAborted();
    let result: ChildResult;
    try {
      result = await this.pool.submit(ask(request), signal);
    } catch (error) {
      signal?.throwIfAborted();
      // A program that kills every interpreter it is given is at fault, not the sandbox.
      const status = error instanceof KilledItsChildren ? 'crashed' : 'sandbox_error';
      return bareResult(kind, failed(status, messageOf(error)));
    }
    return answer(result, request);
  };

  /**
   * Each session has its own child process from its first program on, however many sessions there are. A session stays open
   * while a model thinks, so a session that waited for another one could wait forever. There is one for each active rollout.
   */
  openSession({ limits, seed = 0, totalWallS }: SessionRequest = {}): SandboxSession {
    const all = { ...defaultLimits, ...limits };
    return new PyodideSession({
      limits: all,
      seed,
      totalWallS: totalWallS ?? 10 * all.wallS,
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
}

/** How to ask a child for each kind of request, and how to read its result. */
interface Exchange<Kind extends RequestKind> {
  ask: (request: SandboxRequest<Kind>) => Omit<ChildRequest, 'id'>;
  answer: (result: ChildResult, request: SandboxRequest<Kind>) => SandboxResults[Kind];
}

const exchanges: { [Kind in RequestKind]: Exchange<Kind> } = {
  run: {
    ask: ({ stdin = '', files = {}, ...request }) => ({ ...programOf(request), stdin, files }),
    answer: runResultOf,
  },
  /**
   * All calls are made one after another in one run: a fresh heap for each would cost some 5 ms a call and
   * buys nothing, since what is expected never enters the sandbox. A call that does not return in time
   * ends the run, and the results of later calls are missing.
   */
  calls: {
    ask: ({ entry, args, ...request }) => ({
      ...programOf(request),
      task: { kind: 'calls', entry, args: JSON.stringify(args) },
    }),
    answer: (result, { args }) =>
      withCallResults(runResultOf(result), result.results ?? '[]', args.length),
  },
  /** The two interpreters share a child process and see nothing of each other but the bytes of their channel. */
  judge: {
    ask: ({ tests, ...request }) => ({
      ...programOf(request),
      task: {
        kind: 'judge',
        tests: JSON.stringify(tests),
        mostVerdictBytes: (tests.statements.length + 1) * mostVerdictBytes,
      },
    }),
    answer: (result, { tests }) => {
      // What comes after the last line break was cut off.
      const lines = (result.verdicts ?? '').split('\n').slice(0, -1);
      const verdicts = readVerdicts(lines, tests.statements.length);
      if (verdicts !== undefined) return { ...runResultOf(result), verdicts };
      const message = 'the tests reported what is not a verdict';
      return { ...runResultOf(result), status: 'crashed', message, verdicts: [] };
    },
  },
};

type Program = Pick<RunRequest, 'code' | 'seed' | 'limits'>;

const programOf = ({ code, seed = 0, limits }: Program): Omit<ChildRequest, 'id'> => ({
  code,
  stdin: '',
  seed,
  ...childLimits({ ...defaultLimits, ...limits }),
});
