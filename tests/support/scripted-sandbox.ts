import type {
  CallsRequest,
  CallsResult,
  JudgeRequest,
  JudgeResult,
  RunRequest,
  RunResult,
  Sandbox,
  SessionRun,
} from '../../agent_rl/core/services/sandbox.ts';

const ran: RunResult = {
  status: 'ok',
  exitCode: 0,
  stdout: '',
  stderr: '',
  stdoutBytes: 0,
  stderrBytes: 0,
  truncated: false,
  wallMs: 1,
  level: 'scripted',
};

/** What was asked of a scripted sandbox. */
export interface ScriptedSandbox extends Sandbox {
  requests: (RunRequest | CallsRequest | JudgeRequest)[];
  /** Opened so far, and not closed yet. */
  sessions: number;
  openSessions: number;
}

/** A sandbox that runs nothing: `answer` says what came of each request. */
export function scriptedSandbox(
  answer: (
    request: RunRequest | CallsRequest | JudgeRequest,
  ) => Partial<CallsResult & JudgeResult & SessionRun>,
): ScriptedSandbox {
  const counts = { sessions: 0, openSessions: 0 };
  const requests: (RunRequest | CallsRequest | JudgeRequest)[] = [];
  return {
    requests,
    async judge(request) {
      requests.push(request);
      return { ...ran, verdicts: [], ...answer(request) };
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
    async run(request) {
      requests.push(request);
      return { ...ran, ...answer(request) };
    },
    async calls(request) {
      requests.push(request);
      return { ...ran, results: [], ...answer(request) };
    },
    capabilities: () => ({ backend: 'scripted', level: 'scripted', python: '3', concurrency: 1 }),
    close: async () => undefined,
  };
}
