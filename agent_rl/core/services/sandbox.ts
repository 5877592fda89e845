/** How one run of untrusted code ended. */
export type SandboxStatus = (typeof sandboxStatuses)[number];

export const sandboxStatuses = [
  'ok',
  'error',
  'timeout',
  'memory_limit',
  'output_limit',
  'disk_limit',
  'file_limit',
  'signaled',
  'crashed',
  'bad_request',
  'sandbox_error',
] as const;

/** What the limits of a program may be. Less time is hardly enough to start Python in. */
export const limitBounds = {
  wallS: { minimum: 0.01, maximum: 3600 },
  memoryMiB: { minimum: 64, maximum: 1024 },
} as const;

/** Bytes of stdout and of stderr that are kept, each from its start; the rest is counted. */
export const keptOutputBytes = 65_536;

/** Those left out are the sandbox's own; see `limitBounds`. */
export interface SandboxLimits {
  readonly wallS?: number;
  readonly memoryMiB?: number;
}

/** Contents in base64, by path relative to the program's working folder; no path is a file and a folder at once. */
export type SandboxFiles = Readonly<Record<string, string>>;

/** Fields of every request. */
export interface RequestOptions {
  /** The requester. Waiting requesters take turns. */
  readonly owner?: string;
  readonly limits?: SandboxLimits;
  /** Seeds the sandbox's entropy, so that a rollout can be repeated. Whole, between -2^53 and 2^53. */
  readonly seed?: number;
}

export interface RunRequest extends RequestOptions {
  readonly code: string;
  readonly stdin?: string;
  /** Put into the working folder before the program starts. */
  readonly files?: SandboxFiles | undefined;
}

export interface RunResult {
  readonly status: SandboxStatus;
  readonly exitCode?: number;
  /** Name of the signal that ended the program, with status `signaled`. */
  readonly signal?: string;
  /** UTF-8 with replacement, the first `keptOutputBytes` of it; see `truncated`. */
  readonly stdout: string;
  readonly stderr: string;
  /** Printed, whether kept or not. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** Whether either was cut. */
  readonly truncated: boolean;
  /** From the program's start, waiting not included. */
  readonly wallMs: number;
  /** Where the backend knows. */
  readonly cpuMs?: number | undefined;
  readonly peakRssBytes?: number | undefined;
  /** Backend and level that ran it, for the record. */
  readonly level: string;
  readonly message?: string | undefined;
}

export interface CallsRequest extends RequestOptions {
  readonly code: string;
  /** Name of the function to call, or `Class.method` of a fresh instance for each call. */
  readonly entry: string;
  /** Arguments of each call, type-tagged (see `core/python-value.ts`); each nested 100 deep at most. */
  readonly args: readonly (readonly unknown[])[];
}

/** The result of a call: a type-tagged plain value, or the reason why it is missing. */
export type CallResult =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

export interface CallsResult extends RunResult {
  /** One per call; shorter when the run ended early. */
  readonly results: readonly CallResult[];
}

/** Tests written in Python, to be run where the program they test cannot reach them. */
export interface AssertTests {
  /** Runs before the statements, in their names. */
  readonly setup?: string;
  /** Each is one test: it passes when it raises nothing. They share their names and run in order. */
  readonly statements: readonly string[];
  /** The function that the tests call `candidate`. */
  readonly entry?: string;
  /**
   * The names of the program that the tests may use, including built-in names. By default every name they use except
   * built-ins, so that a program cannot replace `sorted` or `abs`.
   */
  readonly names?: readonly string[];
  /**
   * The names among them that are classes: the tests may create objects and use their attributes. By default the names
   * that begin with a capital. Any other name must return plain data.
   */
  readonly classes?: readonly string[];
}

export interface JudgeRequest extends RequestOptions {
  readonly code: string;
  readonly tests: AssertTests;
}

/** The result of one statement. */
export interface AssertVerdict {
  readonly passed: boolean;
  /** Of a test that did not pass. May quote statement and setup: not to be shown to the policy where they are hidden. */
  readonly problem?: string;
}

/** The run is that of the program under test; what the tests print is not kept. */
export interface JudgeResult extends RunResult {
  /** One per statement; shorter when the run ended early. */
  readonly verdicts: readonly AssertVerdict[];
}

export interface SessionRequest extends RequestOptions {
  /** Seconds that all programs of the session may run together, within the bounds of `wallS`. */
  readonly totalWallS?: number | undefined;
}

export interface SessionRun extends RunResult {
  /** False when the session's interpreter ended with this program: the next starts without variables. */
  readonly alive: boolean;
}

/** Programs that share their variables and files, run one after another in one interpreter. */
export interface SandboxSession {
  run(
    request: Pick<RunRequest, 'code' | 'stdin' | 'limits'>,
    signal?: AbortSignal,
  ): Promise<SessionRun>;
  close(): Promise<void>;
}

export interface SandboxCapabilities {
  readonly backend: string;
  readonly level: string;
  readonly python: string;
  readonly concurrency: number;
  /** Modules beyond the standard library, sorted; absent if there are no others or they are unknown. */
  readonly modules?: readonly string[] | undefined;
  /** Unsupported features, for which it throws; a run that needs them is refused at the start. */
  readonly unsupported?: readonly ('judge' | 'sessions')[];
}

/** Requests to a sandbox, by kind. */
export interface SandboxRequests {
  run: RunRequest;
  /** Calls a function of the program; expected results stay outside the sandbox. */
  calls: CallsRequest;
  /** Runs tests in a second sandbox that reaches the program by messages only. */
  judge: JudgeRequest;
}

/** Results of requests, by kind. */
export interface SandboxResults {
  run: RunResult;
  calls: CallsResult;
  judge: JudgeResult;
}

export type RequestKind = keyof SandboxRequests;

export type SandboxRequest<Kind extends RequestKind> = { kind: Kind } & SandboxRequests[Kind];

/**
 * Runs untrusted code. Never throws because of what the code did; `sandbox_error` means that the sandbox failed,
 * `bad_request` that the request is invalid, as its `message` says.
 */
export interface Sandbox {
  /** @throws the signal's reason when it is aborted */
  execute<Kind extends RequestKind>(
    request: SandboxRequest<Kind>,
    signal?: AbortSignal,
  ): Promise<SandboxResults[Kind]>;
  /** Its interpreter starts with the first program. @throws AgentRlError `CONFIG_INVALID` for a request that cannot be kept */
  openSession(request?: SessionRequest): SandboxSession;
  capabilities(): SandboxCapabilities;
  close(): Promise<void>;
}
