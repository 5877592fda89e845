import type { PythonValue } from '#agent_rl/core/python/python-value.ts';
import type {
  AssertTests,
  CallsResult,
  JudgeResult,
  RunRequest,
  RunResult,
  Sandbox,
  SandboxLimits,
  SandboxSession,
  SessionRequest,
} from '#agent_rl/core/services/sandbox.ts';

/** Requests to a started sandbox, as its tests write them. */
export interface Asking {
  run: (code: string, more?: Omit<RunRequest, 'code'>) => Promise<RunResult>;
  calls: (
    code: string,
    entry: string,
    args: readonly (readonly PythonValue[])[],
    limits?: SandboxLimits,
  ) => Promise<CallsResult>;
  judge: (
    code: string,
    statements: readonly string[],
    more?: Omit<AssertTests, 'statements'>,
    limits?: SandboxLimits,
  ) => Promise<JudgeResult>;
  /** Closes the session after the work, whatever happens. */
  inSession: (
    work: (session: SandboxSession) => Promise<void>,
    request?: SessionRequest,
  ) => Promise<void>;
}

export function asking(sandbox: () => Sandbox): Asking {
  return {
    run: (code, more) => sandbox().execute({ kind: 'run', code, ...more }),
    calls: (code, entry, args, limits = {}) =>
      sandbox().execute({ kind: 'calls', code, entry, args, limits }),
    judge: (code, statements, more = {}, limits = {}) =>
      sandbox().execute({ kind: 'judge', code, tests: { statements, ...more }, limits }),
    inSession: async (work, request) => {
      const session = sandbox().openSession(request);
      try {
        await work(session);
      } finally {
        await session.close();
      }
    },
  };
}

export const passes = ({ verdicts }: JudgeResult): boolean[] =>
  verdicts.map(({ passed }) => passed);
