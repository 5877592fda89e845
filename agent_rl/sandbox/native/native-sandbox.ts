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
import { tryProbes } from '../probes/probe-escapes.ts';
import { resultWithoutOutput } from '../requests/result-without-output.ts';
import { findPython } from './find-python.ts';
import { kernelProbes } from '../probes/kernel-probes.ts';
import { lacksOf } from './lacks-of.ts';
import { nativeLimits } from './native-limits.ts';
import { NativeSession } from './native-session.ts';
import { endingOf, outputOf, readNotes } from './outcome.ts';
import type { SupervisorReply, SupervisorRequest } from './protocol.ts';
import { SupervisorKeeper } from './supervisor-keeper.ts';
import type { SandboxIncident } from '../incident.ts';

export interface NativeSandboxOptions {
  level: 'ns' | 'lite';
  /** By default the system's own, then those on PATH. */
  python?: string;
  /** Modules beyond the standard library that programs may import, loaded once. */
  preload?: readonly string[];
  /** Limits of a program whose request names none. Default 10 s and 512 MiB. */
  limits?: SandboxLimits;
  /** Told of what the sandbox had to mend. */
  onIncident?: (incident: SandboxIncident) => void;
}

/**
 * Python in a process of its own, forked from one that has the standard library loaded.
 *
 * `ns`: namespaces of mounts, processes, network, IPC and users, a root that holds Python's library and five devices,
 * limits of the kernel, a filter of system calls, Landlock. `lite`, where namespaces are forbidden: the same without a
 * root of its own, with a watched folder on the disk; a program can then learn which paths exist, though not open them.
 */
export class NativeSandbox implements Sandbox {
  private constructor(
    private readonly keeper: SupervisorKeeper,
    private readonly limits: Required<SandboxLimits>,
    private readonly facts: Omit<SandboxCapabilities, 'concurrency'>,
  ) {}

  /** @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID` */
  static async start(options: NativeSandboxOptions): Promise<NativeSandbox> {
    const { level, preload = [], limits = {}, onIncident = () => undefined } = options;
    const withDefaults = { ...defaultLimits, ...limits };
    checkedLimits(withDefaults);
    const python = findPython(options.python);
    const keeper = new SupervisorKeeper({ python, level, preload }, onIncident);
    const hello = await keeper.first();
    const version = hello.python.split('.').slice(0, 2).join('.');
    const walls = [
      `landlock${hello.walls.landlock}`,
      'seccomp',
      ...(hello.walls.user === 'own' ? ['uid'] : []),
    ];
    await refuseIfEscaped(keeper, level);
    for (const incident of lacksOf(hello)) onIncident(incident);
    const facts = {
      backend: 'native',
      level: `native:${level}+${walls.join('+')}`,
      python: version,
    };
    return new NativeSandbox(keeper, withDefaults, facts);
  }

  async run(request: RunRequest, signal?: AbortSignal): Promise<RunResult> {
    const { code, stdin = '', files, seed = 0 } = request;
    const problem = programProblem(request) ?? filesProblem(files);
    if (problem !== undefined) return this.#failed('bad_request', problem);
    const reply = await this.#ask(
      {
        do: 'run',
        entry: 'run',
        limits: this.#limits(request.limits),
        job: JSON.stringify({ code, seed, ...(files && { files }) }),
        stdin: base64(stdin),
      },
      signal,
    );
    return 'status' in reply ? reply : this.#result(reply);
  }

  async calls(request: CallsRequest, signal?: AbortSignal): Promise<CallsResult> {
    const { code, entry, seed = 0 } = request;
    const problem = callsProblem(request);
    if (problem !== undefined) return { ...this.#failed('bad_request', problem), results: [] };
    const args = JSON.stringify(request.args);
    const reply = await this.#ask(
      {
        do: 'run',
        entry: 'calls',
        limits: this.#limits(request.limits),
        job: JSON.stringify({ code, seed, entry, args }),
        stdin: '',
      },
      signal,
    );
    if ('status' in reply) return { ...reply, results: [] };
    const result = this.#result(reply);
    const results = readCallResults(`[${readNotes(reply.notes).results.join(',')}]`);
    if (results !== undefined && results.length <= request.args.length)
      return { ...result, results };
    const message = 'the program tampered with its results';
    return { ...result, status: 'crashed', message, results: [] };
  }

  async judge(request: JudgeRequest, signal?: AbortSignal): Promise<JudgeResult> {
    const { code, tests, seed = 0 } = request;
    const problem = programProblem({ code }) ?? testsProblem(tests);
    if (problem !== undefined) return { ...this.#failed('bad_request', problem), verdicts: [] };
    const testsText = JSON.stringify({ tests, seed });
    const limits = this.#limits(request.limits);
    const job = JSON.stringify({ code, seed });
    const reply = await this.#ask({ do: 'judge', limits, job, tests: testsText }, signal);
    if ('status' in reply) return { ...reply, verdicts: [] };
    return this.#judgement(reply, tests.statements.length);
  }

  openSession({ limits, seed = 0, totalWallS }: SessionRequest = {}): SandboxSession {
    const checked = { ...this.limits, ...limits };
    checkedLimits(checked);
    if (totalWallS !== undefined) checkSeconds('totalWallS', totalWallS);
    return new NativeSession(this.keeper, {
      limits: checked,
      seed,
      totalWallS: totalWallS ?? 10 * checked.wallS,
      level: this.facts.level,
    });
  }

  capabilities(): SandboxCapabilities {
    // The queue before it says how many run at once.
    return { ...this.facts, concurrency: Number.POSITIVE_INFINITY };
  }

  close(): Promise<void> {
    return this.keeper.close();
  }

  #limits(limits: SandboxLimits | undefined) {
    const all = { ...this.limits, ...limits };
    checkedLimits(all);
    return nativeLimits(all);
  }

  #judgement(reply: SupervisorReply, statements: number): JudgeResult {
    const { tests } = reply;
    const notes = readNotes(tests?.notes ?? '');
    // The tests' own process failed: nothing is known of the program.
    if (tests === undefined || !notes.ready || tests.end?.failed) {
      const message = tests?.end?.failed ?? 'the process of the tests did not get ready';
      return { ...this.#failed('sandbox_error', message), verdicts: [] };
    }
    const verdicts =
      readVerdicts(notes.results.map((line) => `${line}\n`).join(''), statements) ?? [];
    const result = this.#result(reply);
    // Once the tests are over their solution is ended, which is no fault of its own.
    const over = verdicts.length === statements && result.status === 'signaled';
    return { ...result, ...(over && { status: 'ok' }), verdicts };
  }

  /** What the supervisor replied, or a result that is our own failure. */
  async #ask(
    request: SupervisorRequest,
    signal: AbortSignal | undefined,
  ): Promise<SupervisorReply | RunResult> {
    signal?.throwIfAborted();
    try {
      const reply = await this.keeper.ask(request, signal);
      signal?.throwIfAborted();
      return reply;
    } catch (error) {
      signal?.throwIfAborted();
      return this.#failed('sandbox_error', messageOf(error));
    }
  }

  #result(reply: SupervisorReply): RunResult {
    const ending = endingOf(reply, readNotes(reply.notes));
    return { ...outputOf(reply, this.facts.level), ...ending };
  }

  #failed(status: 'bad_request' | 'sandbox_error', message: string): RunResult {
    return resultWithoutOutput(status, message, this.facts.level);
  }
}

/** Walls that the kernel says it put up are tried before a program is run behind them. */
async function refuseIfEscaped(keeper: SupervisorKeeper, level: string): Promise<void> {
  try {
    const escaped = await escapedFromNative(keeper);
    if (escaped.length === 0) return;
    throw new Error(`code inside it reached the host by: ${escaped.join(', ')}`);
  } catch (cause) {
    await keeper.close();
    throw new AgentRlError(
      'SANDBOX_UNAVAILABLE',
      `native:${level} does not hold here: ${messageOf(cause)}.`,
      { cause },
    );
  }
}

/** The probes that succeed against what the keeper's supervisor runs. */
const escapedFromNative = (keeper: SupervisorKeeper): Promise<readonly string[]> =>
  tryProbes(async (code) => {
    const reply = await keeper.ask({
      do: 'run',
      entry: 'run',
      limits: nativeLimits(defaultLimits),
      job: JSON.stringify({ code, seed: 0 }),
      stdin: '',
    });
    return { ...outputOf(reply, ''), ...endingOf(reply, readNotes(reply.notes)) };
  }, kernelProbes);

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
