import type { PythonValue } from '#agent_rl/core/python/python-value.ts';
import type {
  AssertTests,
  JudgeResult,
  RunRequest,
  Sandbox,
  SandboxLimits,
  SandboxSession,
  SessionRequest,
} from '#agent_rl/core/services/sandbox.ts';

export type Asking = ReturnType<typeof asking>;

/** Requests to a started sandbox, as its tests write them. */
export const asking = (sandbox: () => Sandbox) => ({
  run: (code: string, more?: Omit<RunRequest, 'code'>) =>
    sandbox().execute({ kind: 'run', code, ...more }),
  calls: (
    code: string,
    entry: string,
    args: readonly (readonly PythonValue[])[],
    limits: SandboxLimits = {},
  ) => sandbox().execute({ kind: 'calls', code, entry, args, limits }),
  judge: (
    code: string,
    statements: readonly string[],
    more: Omit<AssertTests, 'statements'> = {},
    limits: SandboxLimits = {},
  ) => sandbox().execute({ kind: 'judge', code, tests: { statements, ...more }, limits }),
  /** Closes the session after the work, whatever happens. */
  inSession: async (work: (session: SandboxSession) => Promise<void>, request?: SessionRequest) => {
    const session = sandbox().openSession(request);
    try {
      await work(session);
    } finally {
      await session.close();
    }
  },
});

export const passes = ({ verdicts }: JudgeResult): boolean[] =>
  verdicts.map(({ passed }) => passed);
