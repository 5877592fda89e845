import type {
  CallsResult,
  JudgeResult,
  RequestKind,
  RunRequest,
  RunResult,
  Sandbox,
  SandboxRequest,
  SessionRun,
} from '#agent_rl/core/services/sandbox.ts';
import { bareResult } from '#agent_rl/sandbox/requests/result-without-output.ts';

const written = { stdout: '', stderr: '', stdoutBytes: 0, stderrBytes: 0, truncated: false };
const ran: RunResult = { status: 'ok', exitCode: 0, ...written, wallMs: 1, level: 'scripted' };

/** A request of any kind, or a program of a session. */
type Asked = SandboxRequest<RequestKind> | RunRequest;

/** What was asked of a scripted sandbox. */
export interface ScriptedSandbox extends Sandbox {
  requests: Asked[];
  /** Opened so far, and not closed yet. */
  sessions: number;
  openSessions: number;
}

/** A sandbox that runs nothing: `answer` says what came of each request. */
export function scriptedSandbox(
  answer: (request: Asked) => Partial<CallsResult & JudgeResult & SessionRun>,
): ScriptedSandbox {
  const counts = { sessions: 0, openSessions: 0 };
  const requests: Asked[] = [];
  return {
    requests,
    async execute(request) {
      requests.push(request);
      return { ...bareResult(request.kind, ran), ...answer(request) };
    },
    openSession() {
      counts.sessions++;
      counts.openSessions++;
      return {
        async run(request) {
          requests.push(request);
          return { ...ran, alive: true, ...answer(request) };
        },
        async close() {
          counts.openSessions--;
        },
      };
    },
    get sessions() {
      return counts.sessions;
    },
    get openSessions() {
      return counts.openSessions;
    },
    capabilities: () => ({ backend: 'scripted', level: 'scripted', python: '3', concurrency: 1 }),
    close: async () => undefined,
  };
}
