import { Worker } from 'node:worker_threads';

import { memoryErrorCode, shared } from './protocol.ts';
import type { ChildRequest, ChildResult, WorkerMessage, WorkerSettings } from './protocol.ts';

/** After the interrupt, Python has this long to end by KeyboardInterrupt and show the line it was at. */
const graceMs = 1000;
const pollMs = 20;
/** A restore is a copy of some 40 MiB; one that takes this long never ends. */
const restoreMs = 5000;

type End = Pick<ChildResult, 'status' | 'exitCode' | 'message' | 'results'>;

/** The thread that holds one instance, seen from the child's main thread. */
export class InstanceWorker {
  runs = 0;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  #onMessage: (message: WorkerMessage) => void = () => undefined;
  #onExit: (end: End) => void = () => undefined;
  #restored: Promise<boolean> = Promise.resolve(true);

  private constructor(
    private readonly worker: Worker,
    buffer: SharedArrayBuffer,
    private readonly captureBytes: number,
  ) {
    this.#words = new Int32Array(buffer, 0, 8);
    this.#bytes = new Uint8Array(buffer);
    worker.on('message', (message: WorkerMessage) => this.#onMessage(message));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#onExit({ status: memory ? 'memory_limit' : 'crashed', message: error.message });
    });
    worker.on('exit', (code) => this.#onExit({ status: 'crashed', message: `exit ${code}` }));
  }

  /** @throws Error when the instance cannot be made. */
  static start(settings: WorkerSettings): Promise<InstanceWorker> {
    const worker = new Worker(new URL('./worker-main.js', import.meta.url), {
      workerData: settings,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      // At Node's 4 MiB of stack a 2,000 deep recursion through C code ends the thread; at 64 it raises.
      resourceLimits: {
        maxOldGenerationSizeMb: 192,
        maxYoungGenerationSizeMb: 16,
        stackSizeMb: 64,
      },
    });
    return new Promise((resolve, reject) => {
      const failed = (why: unknown): void =>
        reject(why instanceof Error ? why : new Error(`the worker ended with code ${String(why)}`));
      worker.on('error', failed);
      worker.on('exit', failed);
      worker.once('message', (message: WorkerMessage) => {
        worker.off('error', failed);
        worker.off('exit', failed);
        if (message.kind === 'ready') {
          resolve(new InstanceWorker(worker, message.shared, settings.instance.captureBytes));
        } else {
          reject(
            new Error(message.kind === 'failed' ? message.message : `said ${message.kind} first`),
          );
        }
      });
    });
  }

  async run(request: ChildRequest): Promise<ChildResult> {
    this.runs++;
    const start = performance.now();
    const end = await this.#ended(request, start);
    return { id: request.id, ...end, ...this.#output(), wallMs: performance.now() - start };
  }

  /** Whether the instance is again as before its first run. */
  restored(): Promise<boolean> {
    return this.#restored;
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }

  #ended(request: ChildRequest, start: number): Promise<End> {
    return new Promise((resolve) => {
      let restoreTimer: NodeJS.Timeout | undefined;
      let settle!: (whole: boolean) => void;
      this.#restored = new Promise((resolveRestored) => (settle = resolveRestored));
      const restoreDone = (whole: boolean): void => {
        clearTimeout(restoreTimer);
        settle(whole);
      };
      const flooded = setInterval(() => {
        if (this.#words[shared.flood] === 1) finish({ status: 'output_limit' }, false);
      }, pollMs);
      let hard: NodeJS.Timeout | undefined;
      const soft = setTimeout(() => {
        this.#bytes[shared.interruptByte] = 2;
        hard = setTimeout(() => finish({ status: 'timeout' }, false), graceMs);
      }, request.wallMs);
      const finish = (end: End, reusable: boolean): void => {
        clearInterval(flooded);
        clearTimeout(soft);
        clearTimeout(hard);
        if (!reusable) restoreDone(false);
        else restoreTimer = setTimeout(() => restoreDone(false), restoreMs);
        resolve(end);
      };
      this.#onExit = (end) => finish(end, false);
      this.#onMessage = (message) => {
        if (message.kind === 'restored') restoreDone(message.whole);
        else {
          const late = performance.now() - start >= request.wallMs;
          const end = late ? timedOut(message) : endOf(message, this.#words[shared.quota] === 1);
          finish(end, !late && message.kind === 'done');
        }
      };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      this.worker.postMessage(request);
    });
  }

  #output(): Omit<ChildResult, 'id' | 'status' | 'wallMs'> {
    const [stdoutBytes, stderrBytes] = [0, 1].map((i) => this.#words[shared.written + i] ?? 0);
    return {
      stdout: this.#text(0),
      stderr: this.#text(1),
      stdoutBytes: stdoutBytes ?? 0,
      stderrBytes: stderrBytes ?? 0,
      truncated: Math.max(stdoutBytes ?? 0, stderrBytes ?? 0) > this.captureBytes,
    };
  }

  #text(stream: 0 | 1): string {
    const start = shared.headerBytes + stream * this.captureBytes;
    const kept = this.#bytes.slice(start, start + (this.#words[shared.kept + stream] ?? 0));
    // A character cut by the cap is left out, not replaced.
    const cut = kept.length === this.captureBytes;
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(kept, { stream: cut });
  }
}

const resultsOf = (value: number | string): Pick<End, 'results'> =>
  typeof value === 'string' ? { results: value.slice(value.indexOf('\n') + 1) } : {};

function timedOut(message: WorkerMessage): End {
  return { status: 'timeout', ...(message.kind === 'done' ? resultsOf(message.value) : {}) };
}

function endOf(message: WorkerMessage, overQuota: boolean): End {
  if (message.kind === 'done') {
    const code = Number.parseInt(String(message.value), 10);
    const results = resultsOf(message.value);
    if (code === memoryErrorCode) return { status: 'memory_limit', exitCode: 1, ...results };
    if (code === 0) return { status: 'ok', exitCode: 0, ...results };
    return { status: overQuota ? 'disk_limit' : 'error', exitCode: code, ...results };
  }
  const text = message.kind === 'crashed' ? message.message : message.kind;
  const exit = /Program terminated with exit\((-?\d+)\)/.exec(text);
  if (exit === null) return { status: 'crashed', message: text };
  const code = Number(exit[1]) & 255;
  return { status: code === 0 ? 'ok' : 'error', exitCode: code };
}
