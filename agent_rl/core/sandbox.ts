/** How one run of untrusted code ended. */
export type SandboxStatus =
  | 'ok'
  | 'error'
  | 'timeout'
  | 'memory_limit'
  | 'output_limit'
  | 'disk_limit'
  | 'file_limit'
  | 'signaled'
  | 'crashed'
  | 'bad_request'
  | 'sandbox_error';

export interface SandboxLimits {
  readonly wallS?: number;
  readonly memoryMiB?: number;
}

export interface RunRequest {
  readonly code: string;
  readonly stdin?: string;
  readonly limits?: SandboxLimits;
  /** Seeds the sandbox's entropy, so that a rollout can be repeated. */
  readonly seed?: number;
}

export interface RunResult {
  readonly status: SandboxStatus;
  readonly exitCode?: number;
  /** UTF-8 with replacement, capped; see `truncated`. */
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly truncated: boolean;
  readonly wallMs: number;
  /** Backend and level that ran it, for the record. */
  readonly level: string;
  readonly message?: string;
}

export interface CallsRequest {
  readonly code: string;
  /** Name of the function to call. */
  readonly entry: string;
  /** Arguments of each call, type-tagged (see `dataset/python-value.ts`). */
  readonly args: readonly (readonly unknown[])[];
  readonly limits?: SandboxLimits;
  readonly seed?: number;
}

/** What one call returned: a type-tagged plain value, or why there is none. */
export type CallResult =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

export interface CallsResult extends RunResult {
  /** One per call; shorter when the run ended early. */
  readonly results: readonly CallResult[];
}

export interface SandboxCapabilities {
  readonly backend: string;
  readonly level: string;
  readonly python: string;
  readonly concurrency: number;
}

/** Runs untrusted code. Never throws for what the code did; `sandbox_error` means we failed. */
export interface Sandbox {
  run(request: RunRequest, signal?: AbortSignal): Promise<RunResult>;
  calls(request: CallsRequest, signal?: AbortSignal): Promise<CallsResult>;
  capabilities(): SandboxCapabilities;
  close(): Promise<void>;
}

export const SANDBOX = Symbol.for('agent_rl.Sandbox');
