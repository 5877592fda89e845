import { url as inspectorUrl } from 'node:inspector';
import type { Worker } from 'node:worker_threads';

import { AgentRlError } from '../core/errors.ts';
import { listenToPlugins } from '../core/plugins/entered-plugin.ts';
import { moduleBeside, startThread } from './thread.ts';

export interface StallWatchOptions {
  /** Longest time that the main thread may be blocked. */
  limitS: number;
  /** The log of the run, if there is one, to which the reason is added. */
  log?: string;
  /** Receives the reason once the main thread is free again; without it the process is killed. */
  onStall?: ((problem: AgentRlError) => void) | undefined;
}

/** The data that the thread starts with. */
export interface StallWatchStart extends Pick<StallWatchOptions, 'limitS' | 'log'> {
  /** Whether the process is the run's own. */
  kills: boolean;
  /** Int32: changes while the main thread is alive. */
  beat: SharedArrayBuffer;
  /** Int32 length, then UTF-8: the plugin whose code ran last. */
  plugin: SharedArrayBuffer;
}

const beatEveryMs = 500;
const mostNameBytes = 512;

/**
 * Watches the main thread from another: a plugin that loops there stops every episode, all timers and the handlers of
 * signals, and no deadline can end it. Past the limit the reason is written and the process is killed, or a program that called the
 * job is notified.
 */
export class StallWatch {
  private constructor(
    private readonly worker: Worker,
    private readonly timer: ReturnType<typeof setInterval>,
    private readonly stopListening: () => void,
  ) {}

  /** Nothing while a debugger is attached, which stops the main thread on purpose. */
  static start({ onStall, ...options }: StallWatchOptions): StallWatch | undefined {
    if (inspectorUrl() !== undefined) return undefined;
    const beat = new SharedArrayBuffer(4);
    const plugin = new SharedArrayBuffer(4 + mostNameBytes);
    const [counter, length] = [new Int32Array(beat), new Int32Array(plugin, 0, 1)];
    const name = new Uint8Array(plugin, 4);
    const encoder = new TextEncoder();
    const data: StallWatchStart = { ...options, beat, plugin, kills: onStall === undefined };
    const worker = startThread({
      entry: moduleBeside(import.meta.url, 'stall-watch-thread'),
      data,
    });
    worker.on('message', (text: string) => onStall?.(new AgentRlError('PROCESS_BLOCKED', text)));
    worker.unref();
    const timer = setInterval(() => {
      Atomics.add(counter, 0, 1);
      Atomics.notify(counter, 0);
    }, beatEveryMs);
    timer.unref();
    // `encodeInto` does not take shared memory.
    const stopListening = listenToPlugins((entered) => {
      const bytes = encoder.encode(entered).subarray(0, mostNameBytes);
      name.set(bytes);
      Atomics.store(length, 0, bytes.length);
    });
    return new StallWatch(worker, timer, stopListening);
  }

  async close(): Promise<void> {
    this.stopListening();
    clearInterval(this.timer);
    await this.worker.terminate();
  }
}
