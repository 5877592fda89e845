/** What goes between the host, its child processes and their workers: JSON, one message a line. */

export interface ChildSettings {
  /** Folder of `glue.js`, `loader.js` and `snapshot.bin`. */
  readonly snapshotFolder: string;
  /** Folder of the pyodide package. */
  readonly pyodideFolder: string;
}

export interface SnapshotSettings extends ChildSettings {
  /** What Python runs before the snapshot is taken. */
  readonly boot: string;
}

/** Exit code that no program can give, those of Python being below 256; the same in `harness/program.py`. */
export const memoryErrorCode = 256;

interface RequestBase {
  readonly id: number;
  readonly code: string;
  readonly stdin: string;
  readonly seed: number;
  readonly wallMs: number;
  readonly memoryBytes: number;
}

export interface ChildRequest extends RequestBase {
  /** Makes it calls of a function instead of a run; the arguments are JSON text. */
  readonly call?: { readonly entry: string; readonly args: string };
}

/** How a run ended, as far as the child can tell. */
export interface ChildResult {
  readonly id: number;
  readonly status:
    'ok' | 'error' | 'timeout' | 'memory_limit' | 'output_limit' | 'disk_limit' | 'crashed';
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly truncated: boolean;
  readonly wallMs: number;
  readonly message?: string;
  /** JSON text of the results of calls. */
  readonly results?: string;
}

export type ChildMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | ({ readonly kind: 'result' } & ChildResult);

/** What the worker needs to make its instance. */
export interface WorkerSettings {
  readonly glue: string;
  readonly loader: string;
  readonly wasm: Uint8Array;
  readonly stdlib: Uint8Array;
  readonly snapshot: Uint8Array;
  readonly instance: InstanceSettings;
}

export interface InstanceSettings {
  readonly captureBytes: number;
  readonly floodBytes: number;
  readonly fileBytes: number;
  readonly fileCount: number;
  readonly reuseBytes: number;
  readonly lockInfo: unknown;
}

export type WorkerMessage =
  | { readonly kind: 'ready'; readonly shared: SharedArrayBuffer }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'done'; readonly value: number | string }
  | { readonly kind: 'crashed'; readonly message: string }
  | { readonly kind: 'restored'; readonly whole: boolean };

/** Bytes of the shared buffer before the captured output, and where its words and flags are. */
export const shared = {
  headerBytes: 64,
  written: 0,
  kept: 2,
  flood: 4,
  quota: 5,
  interruptByte: 60,
} as const;

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
