import { AgentRlError, messageOf } from '../../core/errors.ts';
import type {
  JudgeResult,
  RequestKind,
  RunResult,
  Sandbox,
  SandboxCapabilities,
  SandboxRequest,
  SandboxResults,
  SandboxSession,
  SessionRequest,
} from '../../core/services/sandbox.ts';
import { withCallResults } from '../requests/read-call-results.ts';
import { readVerdicts } from '../requests/read-verdicts.ts';
import { defaultLimits } from '../requests/request-problems.ts';
import { tryProbes } from '../probes/probe-escapes.ts';
import { bareResult, resultWithoutOutput } from '../requests/result-without-output.ts';
import { findPython } from './find-python.ts';
import { kernelProbes } from '../probes/kernel-probes.ts';
import {
  base64,
  nativeLimits,
  type SupervisorReply,
  type SupervisorRequest,
  type Hello,
} from './protocol.ts';
import { NativeSession } from './native-session.ts';
import { endingOf, outputOf, readNotes } from './outcome.ts';
import { SupervisorKeeper } from './supervisor-keeper.ts';
import type { SandboxIncident } from '../incident.ts';

export interface NativeSandboxOptions {
  level: 'ns' | 'lite';
  /** By default the system's own, then those on PATH. */
  python?: string;
  /** Modules beyond the standard library that programs may import, loaded once. */
  preload?: readonly string[];
  /** Notified of each failure that the sandbox repaired. */
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
    private readonly facts: Omit<SandboxCapabilities, 'concurrency'>,
  ) {}

  /** @throws AgentRlError `SANDBOX_UNAVAILABLE`, `CONFIG_INVALID` */
  static async start(options: NativeSandboxOptions): Promise<NativeSandbox> {
    const { level, preload = [], onIncident = () => undefined } = options;
    const python = findPython(options.python);
    const keeper = new SupervisorKeeper({ python, level, preload }, onIncident);
    const hello = await keeper.first();
    await refuseIfEscaped(keeper, level);
    for (const incident of missingProtections(hello)) onIncident(incident);
    const { landlock, user } = hello.walls;
    return new NativeSandbox(keeper, {
      backend: 'native',
      level: `native:${level}+landlock${landlock}+seccomp${user === 'own' ? '+uid' : ''}`,
      python: hello.python.split('.').slice(0, 2).join('.'),
      modules: preload.length > 0 ? preload.toSorted() : undefined,
    });
  }

  readonly execute: Sandbox['execute'] = async (request, signal) => {
    const { kind } = request;
    const { ask, answer } = exchanges[kind];
    const { level } = this.facts;
    signal?.throwIfAborted();
    let reply: SupervisorReply;
    try {
      reply = await this.keeper.ask(ask(request), signal);
    } catch (error) {
      signal?.throwIfAborted();
      return bareResult(kind, failed(messageOf(error), level));
    }
    signal?.throwIfAborted();
    return answer(reply, request, level);
  };

  openSession({ limits, seed = 0, totalWallS }: SessionRequest = {}): SandboxSession {
    const all = { ...defaultLimits, ...limits };
    return new NativeSession(this.keeper, {
      limits: all,
      seed,
      totalWallS: totalWallS ?? 10 * all.wallS,
      level: this.facts.level,
    });
  }

  capabilities(): SandboxCapabilities {
    // The queue in front limits how many programs run at once.
    return { ...this.facts, concurrency: Number.POSITIVE_INFINITY };
  }

  close(): Promise<void> {
    return this.keeper.close();
  }
}

/** How to ask the supervisor for each kind of request, and how to read its reply. */
interface Exchange<Kind extends RequestKind> {
  ask: (request: SandboxRequest<Kind>) => SupervisorRequest;
  answer: (
    reply: SupervisorReply,
    request: SandboxRequest<Kind>,
    level: string,
  ) => SandboxResults[Kind];
}

const exchanges: { [Kind in RequestKind]: Exchange<Kind> } = {
  run: {
    ask: ({ code, stdin = '', files, seed = 0, limits }) => ({
      do: 'run',
      entry: 'run',
      limits: nativeLimits({ ...defaultLimits, ...limits }),
      job: JSON.stringify({ code, seed, files }),
      stdin: base64(stdin),
    }),
    answer: (reply, _, level) => resultOf(reply, level),
  },
  calls: {
    ask: ({ code, entry, args, seed = 0, limits }) => ({
      do: 'run',
      entry: 'calls',
      limits: nativeLimits({ ...defaultLimits, ...limits }),
      job: JSON.stringify({ code, seed, entry, args: JSON.stringify(args) }),
      stdin: '',
    }),
    answer: (reply, { args }, level) => {
      const text = `[${readNotes(reply.notes).results.join(',')}]`;
      return withCallResults(resultOf(reply, level), text, args.length);
    },
  },
  judge: {
    ask: ({ code, tests, seed = 0, limits }) => ({
      do: 'judge',
      limits: nativeLimits({ ...defaultLimits, ...limits }),
      job: JSON.stringify({ code, seed }),
      tests: JSON.stringify({ tests, seed }),
    }),
    answer: (reply, { tests }, level) => judgement(reply, tests.statements.length, level),
  },
};

function judgement(reply: SupervisorReply, statements: number, level: string): JudgeResult {
  const { tests } = reply;
  const notes = readNotes(tests?.notes ?? '');
  // The tests' own process failed: nothing is known of the program.
  if (tests === undefined || !notes.ready || tests.end?.failed) {
    const message = tests?.end?.failed ?? 'the process that runs the tests did not start';
    return { ...failed(message, level), verdicts: [] };
  }
  const verdicts = readVerdicts(notes.results, statements) ?? [];
  const result = resultOf(reply, level);
  // The solution is killed when the tests are over, which is not its fault.
  const over = verdicts.length === statements && result.status === 'signaled';
  return { ...result, status: over ? 'ok' : result.status, verdicts };
}

const resultOf = (reply: SupervisorReply, level: string): RunResult => ({
  ...outputOf(reply, level),
  ...endingOf(reply, readNotes(reply.notes)),
});

const failed = (message: string, level: string): RunResult =>
  resultWithoutOutput('sandbox_error', message, level);

/** Tests the walls before a program runs behind them: the kernel only says that it put them up. */
async function refuseIfEscaped(keeper: SupervisorKeeper, level: string): Promise<void> {
  try {
    const escaped = await tryProbes(async (code) => {
      const request = { kind: 'run', code } as const;
      return resultOf(await keeper.ask(exchanges.run.ask(request)), '');
    }, kernelProbes);
    if (escaped.length === 0) return;
    throw new Error(`test code inside it reached the host through: ${escaped.join(', ')}`);
  } catch (cause) {
    await keeper.close();
    throw new AgentRlError(
      'SANDBOX_UNAVAILABLE',
      `native:${level} does not isolate programs on this machine: ${messageOf(cause)}. Use another sandbox.type.`,
      { cause },
    );
  }
}

/** Protections of a level that this machine does not offer. */
export const missingProtections = ({ level, fixedAddresses, walls }: Hello): SandboxIncident[] => [
  ...(fixedAddresses ? [] : [addresses]),
  // Level lite never has it without root, as `agent-rl sandbox doctor` says, and counts from outside.
  ...(level === 'ns' && walls.tasks === 'shared' ? [threads] : []),
];

const addresses = {
  kind: 'addresses',
  message:
    'memory addresses of objects differ from run to run, because this container does not allow the sandbox to fix them',
} as const;

const threads = {
  kind: 'threads',
  message:
    'a program can use up the threads of other programs, because this kernel counts the threads of all programs together',
} as const;
