import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { CallResults } from './call-results.ts';
import { ChannelEnd } from './channel-end.ts';
import { Deadline } from './deadline.ts';
import { memoryErrorCode, shared } from '../protocol.ts';
import type { WorkerMessage, WorkerRequest, WorkerResult, WorkerSettings } from '../protocol.ts';

const pollMs = 20;
/** A restore is a copy of some 40 MiB; one that takes this long never ends. */
const restoreMs = 5000;

type End = Pick<WorkerResult, 'status' | 'exitCode' | 'message'>;

/** How a run ended. */
interface Ended {
  end: End;
  alive: boolean;
  /** The program came to its end, and before its time was over. */
  inTime: boolean;
}

const late: End = { status: 'timeout' };

/** The thread that holds one instance, seen from the child's main thread. */
export class InstanceWorker {
  runs = 0;
  /** The end of a channel that the instance has in its hands while it serves or runs tests. */
  readonly channel: ChannelEnd;
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
    this.channel = new ChannelEnd(buffer, captureBytes);
    this.#words = new Int32Array(buffer, 0, shared.words);
    this.#bytes = new Uint8Array(buffer);
    worker.on('message', (message: WorkerMessage) => this.#onMessage(message));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#onExit({ status: memory ? 'memory_limit' : 'crashed', message: error.message });
    });
    worker.on('exit', (code) => this.#onExit({ status: 'crashed', message: `exit ${code}` }));
  }

  /** @throws Error when the instance cannot be made. */
  static async start(settings: WorkerSettings): Promise<InstanceWorker> {
    const worker = new Worker(new URL('../realm/worker-main.js', import.meta.url), {
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
    const ended = once(worker, 'exit').then(([code]) => {
      throw new Error(`the worker ended with code ${String(code)}`);
    });
    const [message] = (await Promise.race([once(worker, 'message'), ended])) as [WorkerMessage];
    if (message.kind === 'ready') {
      return new InstanceWorker(worker, message.shared, settings.instance.captureBytes);
    }
    throw new Error(message.kind === 'failed' ? message.message : `sent ${message.kind} first`);
  }

  /** @param onInterrupt Called when the program's time is over, before it is interrupted. */
  async run(request: WorkerRequest, onInterrupt?: () => void): Promise<WorkerResult> {
    this.runs++;
    const start = performance.now();
    const deadline = new Deadline(request.wallMs);
    const isLate = (): boolean => deadline.isLate();
    const calls =
      request.task?.kind === 'calls' ? new CallResults(this.channel, isLate) : undefined;
    const { end, alive, inTime } = await this.#ended(request, { deadline, calls, onInterrupt });
    const results = calls && { results: calls.finish(inTime) };
    return { ...end, ...results, alive, ...this.#output(), wallMs: performance.now() - start };
  }

  /** Whether the instance is again as before its first run. */
  restored(): Promise<boolean> {
    return this.#restored;
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }

  #ended(
    request: WorkerRequest,
    {
      deadline,
      calls,
      onInterrupt,
    }: {
      deadline: Deadline;
      calls: CallResults | undefined;
      onInterrupt: (() => void) | undefined;
    },
  ): Promise<Ended> {
    return new Promise((resolve) => {
      let restoreTimer: NodeJS.Timeout | undefined;
      let settle!: (whole: boolean) => void;
      this.#restored = new Promise((resolveRestored) => (settle = resolveRestored));
      const restoreDone = (whole: boolean): void => {
        clearTimeout(restoreTimer);
        settle(whole);
      };
      const watch = setInterval(() => {
        if (this.#words[shared.flood] === 1 || calls?.flooded === true) {
          return killed({ status: 'output_limit' });
        }
        const step = deadline.step();
        if (step === 'kill') return killed(late);
        if (step === 'interrupt') {
          onInterrupt?.();
          this.#interrupt();
        }
      }, pollMs);
      const finish = (end: End, alive: boolean, inTime = false): void => {
        clearInterval(watch);
        const kept = request.task?.kind === 'session';
        // What was interrupted is not used again, except by its own session.
        if (!alive || kept || deadline.passed) restoreDone(false);
        else restoreTimer = setTimeout(() => restoreDone(false), restoreMs);
        resolve({ end, alive, inTime });
      };
      const killed = (end: End): void => {
        void this.end();
        finish(end, false);
      };
      this.#onExit = (end) => finish(end, false);
      this.#onMessage = (message) => {
        if (message.kind === 'restored') restoreDone(message.whole);
        else {
          const overQuota = this.#words[shared.quota] === 1;
          const inTime = 'atMs' in message && !deadline.isLate(message.atMs);
          finish(inTime ? endOf(message, overQuota) : late, message.kind !== 'crashed', inTime);
        }
      };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      this.worker.postMessage(request);
    });
  }

  #interrupt(): void {
    this.#bytes[shared.interruptByte] = 2;
    this.channel.ring();
  }

  #output(): Pick<WorkerResult, 'stdout' | 'stderr' | 'stdoutBytes' | 'stderrBytes' | 'truncated'> {
    const stdoutBytes = this.#words[shared.written] ?? 0;
    const stderrBytes = this.#words[shared.written + 1] ?? 0;
    const truncated = Math.max(stdoutBytes, stderrBytes) > this.captureBytes;
    return { stdout: this.#text(0), stderr: this.#text(1), stdoutBytes, stderrBytes, truncated };
  }

  #text(stream: 0 | 1): string {
    const start = shared.headerBytes + stream * this.captureBytes;
    const kept = this.#bytes.slice(start, start + (this.#words[shared.kept + stream] ?? 0));
    // A character cut by the cap is left out, not replaced.
    const cut = kept.length === this.captureBytes;
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(kept, { stream: cut });
  }
}

function endOf(message: WorkerMessage, overQuota: boolean): End {
  if (message.kind === 'done') {
    const code = message.value;
    if (code === memoryErrorCode) return { status: 'memory_limit', exitCode: 1 };
    if (code === 0) return { status: 'ok', exitCode: 0 };
    return { status: overQuota ? 'disk_limit' : 'error', exitCode: code };
  }
  if (message.kind === 'refused') {
    const status = overQuota ? 'disk_limit' : 'bad_request';
    return { status, message: `the program's files could not be put in place: ${message.message}` };
  }
  const text = message.kind === 'crashed' ? message.message : message.kind;
  const exit = /Program terminated with exit\((-?\d+)\)/.exec(text);
  if (exit === null) return { status: 'crashed', message: text };
  const code = Number(exit[1]) & 255;
  return { status: code === 0 ? 'ok' : 'error', exitCode: code };
}
