import { availableParallelism } from 'node:os';

import type { Deadline, Timed } from '../../core/stopping/abort.ts';
import type { ToolResult, ToolSettings } from '../../core/plugins/tool.ts';
import { ThreadPool } from '../../threads/thread-pool.ts';
import { compiledTwin, type ModuleHooks, moduleBeside } from '../../threads/thread.ts';

/** What a thread is started with. */
export interface IsolatedStart {
  name: string;
  /** The tool's own settings, its constructor's only argument. */
  settings: ToolSettings;
  url: string;
  hooks: readonly ModuleHooks[];
}

/** What crosses to the thread for one call. */
export interface IsolatedCall {
  args: Readonly<Record<string, unknown>>;
  inputs: Readonly<Record<string, unknown>>;
  randomPath: readonly (string | number)[];
  idempotencyKey: string;
}

const startUpS = 30;
const maxHeapMiB = 512;

/** Each thread loads the tool's modules, and more threads than processors are not faster. */
const mostAtOnce = Math.max(4, availableParallelism());

/**
 * A tool that runs in its own threads, with one call at a time in each, so that a call can be ended even while it
 * loops. A thread is kept for the next call and terminated only when a call overruns, fails or is aborted: what a tool
 * keeps in module variables is seen by later calls.
 *
 * Not a sandbox: the thread shares the process's files and network. Its environment variables are empty.
 */
export class IsolatedTool {
  readonly #threads: ThreadPool<IsolatedCall, ToolResult>;

  constructor(
    private readonly name: string,
    url: string,
    hooks: readonly ModuleHooks[] = [],
    settings: ToolSettings = {},
  ) {
    const data: IsolatedStart = { name, settings, url: compiledTwin(new URL(url)).href, hooks };
    const entry = moduleBeside(import.meta.url, 'isolated-tool-thread');
    const what = `The thread of the isolated tool "${name}"`;
    this.#threads = new ThreadPool({
      name: what,
      entry,
      data,
      startUpS,
      maxHeapMiB,
      mostAtOnce,
    });
  }

  /** Starts threads before there are calls, at most as many as may run at once. */
  startAhead(calls: number): void {
    this.#threads.startAhead(calls);
  }

  /** The deadline starts when the thread is ready, after waiting for a thread and importing the tool. */
  async call(call: IsolatedCall, deadline: Deadline): Promise<Timed<ToolResult>> {
    try {
      return await this.#threads.ask(call, deadline);
    } catch (thrown) {
      if (!isOutOfMemory(thrown)) throw thrown;
      const content = `Error: ${this.name} was stopped: it needed more than ${maxHeapMiB} MiB.`;
      return { value: { content, isError: true } };
    }
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}

const isOutOfMemory = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY';
