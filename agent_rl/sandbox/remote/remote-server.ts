import type {
  CallsRequest,
  CallsResult,
  JudgeRequest,
  JudgeResult,
  RunRequest,
  RunResult,
  SandboxCapabilities,
  SandboxSession,
  SessionRequest,
} from '../../core/services/sandbox.ts';

/** A kind of server, as the remote sandbox uses it. Its methods throw `NoAnswer` and what `unexpected` makes. */
export interface RemoteServer {
  facts: Omit<SandboxCapabilities, 'backend' | 'concurrency'>;
  run(request: RunRequest, signal?: AbortSignal): Promise<RunResult>;
  calls(request: CallsRequest, signal?: AbortSignal): Promise<CallsResult>;
  /** @throws AgentRlError `SANDBOX_UNAVAILABLE` where the server cannot. */
  judge(request: JudgeRequest, signal?: AbortSignal): Promise<JudgeResult>;
  /** @throws AgentRlError `SANDBOX_UNAVAILABLE` where the server cannot. */
  openSession(request?: SessionRequest): SandboxSession;
}
