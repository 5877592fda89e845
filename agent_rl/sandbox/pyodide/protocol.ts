import type { RunResult } from '../../core/services/sandbox.ts';

/** What goes between the host, its child processes and their workers: JSON, one message a line. */

export interface ChildSettings {
  /** Folder of `glue.js`, `loader.js` and `snapshot.bin`. */
  snapshotFolder: string;
  /** Folder of the pyodide package. */
  pyodideFolder: string;
}

/** What the child cannot find out on its own: it reads no modules of other folders. */
export interface ChildArguments extends ChildSettings {
  captureBytes: number;
}

export interface SnapshotSettings extends ChildSettings {
  /** What Python runs before the snapshot is taken. */
  boot: string;
}

/** Exit code that no program can have, since Python's are below 256; the same as in `harness/program.py`. */
export const memoryErrorCode = 256;

interface ProgramRequest {
  code: string;
  stdin: string;
  seed: number;
  wallMs: number;
  memoryBytes: number;
  /** Contents in base64 by path relative to the working folder; the paths have been checked. */
  files?: Readonly<Record<string, string>>;
}

/** Calls of a function of the program, whose arguments are JSON text; or the next program of a session, not restored after. */
type ProgramTask = { kind: 'calls'; entry: string; args: string } | { kind: 'session' };

/** Tests of the program in a second interpreter; `tests` is JSON text for `harness/asserts.py`. */
export interface JudgeTask {
  kind: 'judge';
  tests: string;
  mostVerdictBytes: number;
}

/** The two sides of a judge: the program, and the tests that reach it through a channel. */
type SideTask = { kind: 'serve' } | { kind: 'tests'; tests: string };

export interface ChildRequest extends ProgramRequest {
  id: number;
  /** What is done with the program besides running it. */
  task?: ProgramTask | JudgeTask;
}

/** What one worker is asked to do. */
export interface WorkerRequest extends ProgramRequest {
  task?: ProgramTask | SideTask;
}

/** How a run ended, as far as the child can tell. */
export interface WorkerResult extends Omit<RunResult, 'level'> {
  /** JSON text of the results of calls. */
  results?: string;
  /** Whether the interpreter still answers, so that a session can continue in it. */
  alive: boolean;
}

export interface ChildResult extends WorkerResult {
  id: number;
  /** What the tests of a judge reported, one JSON text a line; the last may be cut off. */
  verdicts?: string;
}

export type ChildMessage =
  { kind: 'ready' } | { kind: 'failed'; message: string } | ({ kind: 'result' } & ChildResult);

/** Milliseconds by a clock that all threads of a process share. */
export const steadyMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** What the worker needs to make its instance. */
export interface WorkerSettings {
  glue: string;
  loader: string;
  wasm: Uint8Array;
  stdlib: Uint8Array;
  snapshot: Uint8Array;
  instance: InstanceSettings;
}

export interface InstanceSettings {
  captureBytes: number;
  floodBytes: number;
  fileBytes: number;
  fileCount: number;
  reuseBytes: number;
  lockInfo: unknown;
}

/** `atMs`: when the program ended, by `steadyMs`. */
export type WorkerMessage =
  | { kind: 'ready'; shared: SharedArrayBuffer }
  | { kind: 'failed'; message: string }
  | { kind: 'done'; value: number; atMs: number }
  | { kind: 'crashed'; message: string; atMs: number }
  /** The program was not started: its files could not be put in place. */
  | { kind: 'refused'; message: string; atMs: number }
  | { kind: 'restored'; whole: boolean };

/**
 * The memory that an instance shares with the child's main thread: a header of words and flags, what was captured of
 * stdout and stderr, and the boxes of its channel.
 */
export const shared = {
  headerBytes: 128,
  words: 32,
  // Bytes written and bytes kept, of stdout and stderr.
  written: 0,
  kept: 2,
  flood: 4,
  quota: 5,
  /** A word that never changes, for waiting forever. */
  never: 6,
  interruptByte: 60,
  // Counters that go up whenever the other side should look: the realm's, and the main thread's.
  realmBell: 16,
  mainBell: 17,
  /** How many bytes lie in each box; 0 means that its writer may fill it. */
  boxes: 18,
  /** 1 when the other end of the channel is gone. */
  closed: 21,
  boxBytes: 64 * 1024,
} as const;

/** The boxes of a channel, in their order: bytes for the program, bytes from it, verdicts of tests or results of calls. */
export const box = { incoming: 0, outgoing: 1, verdicts: 2 } as const;
export const boxCount = 3;

/** Calls `onLine` for each line of a stream of text; only `\n` ends a line. */
export function lineReader(onLine: (line: string) => void): (chunk: string) => void {
  let pieces: string[] = [];
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      const line = pieces.join('') + chunk.slice(start, end);
      pieces = [];
      start = end + 1;
      onLine(line);
    }
    if (start < chunk.length) pieces.push(chunk.slice(start));
  };
}
