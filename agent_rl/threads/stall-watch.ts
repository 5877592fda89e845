import { url as inspectorUrl } from 'node:inspector';
import type { Worker } from 'node:worker_threads';

import { listenToPlugins } from '../core/plugins/entered-plugin.ts';
import { moduleBeside, startThread } from './thread.ts';

export interface StallWatchOptions {
  /** Longest time that the main thread may be blocked. */
  limitS: number;
  /** The log of the run, if there is one, to which the reason is added. */
  log?: string;
}

/** What the thread is started with. */
export interface StallWatchStart extends StallWatchOptions {
  /** Int32: changes while the main thread is alive. */
  beat: SharedArrayBuffer;
  /** Int32 length, then UTF-8: the plugin whose code ran last. */
  plugin: SharedArrayBuffer;
}

const beatEveryMs = 500;
const mostNameBytes = 512;

/**
 * Watches the main thread from another: a plugin that loops there stops every episode, all timers and the handlers of
 * signals, and no deadline can end it. Past the limit the reason is written and the process is killed.
 */
export class StallWatch {
  private constructor(
    private readonly worker: Worker,
    private readonly timer: ReturnType<typeof setInterval>,
  ) {}

  /** Nothing while a debugger is attached, which stops the main thread on purpose. */
  static start(options: StallWatchOptions): StallWatch | undefined {
    if (inspectorUrl() !== undefined) return undefined;
    const beat = new SharedArrayBuffer(4);
    const plugin = new SharedArrayBuffer(4 + mostNameBytes);
    const [counter, length] = [new Int32Array(beat), new Int32Array(plugin, 0, 1)];
    const name = new Uint8Array(plugin, 4);
    const encoder = new TextEncoder();
    const data: StallWatchStart = { ...options, beat, plugin };
    const worker = startThread({
      entry: moduleBeside(import.meta.url, 'stall-watch-thread'),
      data,
    });
    worker.unref();
    const timer = setInterval(() => {
      Atomics.add(counter, 0, 1);
      Atomics.notify(counter, 0);
    }, beatEveryMs);
    timer.unref();
    // `encodeInto` does not take shared memory.
    listenToPlugins((entered) => {
      const bytes = encoder.encode(entered).subarray(0, mostNameBytes);
      name.set(bytes);
      Atomics.store(length, 0, bytes.length);
    });
    return new StallWatch(worker, timer);
  }

  async close(): Promise<void> {
    listenToPlugins(undefined);
    clearInterval(this.timer);
    await this.worker.terminate();
  }
}
