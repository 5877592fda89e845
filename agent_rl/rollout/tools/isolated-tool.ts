import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

import { compiledTwin } from '../../core/compiled-twin.ts';
import { nextMessage } from '../../threads/thread.ts';
import type { ToolResult, ToolSettings } from '../../core/plugins/tool.ts';
import { type Timed, withDeadline } from './with-deadline.ts';

/** Module hooks a thread registers before it imports its tool, which main-thread ones do not reach. */
export interface ModuleHooks {
  url: string;
  /** Given to the hooks' `initialize`. */
  data?: unknown;
}

/** What a thread is started with. */
export interface IsolatedStart {
  name: string;
  /** The tool's own, the only argument of its constructor. */
  settings: ToolSettings;
  url: string;
  hooks: readonly ModuleHooks[];
}

/** What crosses to the thread for one call. */
export interface IsolatedCall {
  args: Readonly<Record<string, unknown>>;
  inputs: Readonly<Record<string, unknown>>;
  randomPath: readonly (string | number)[];
}

/** What comes back: first `ready` or `unusable`, then an answer to each call. */
export type IsolatedAnswer =
  | { kind: 'ready' }
  | { kind: 'unusable'; message: string }
  | { kind: 'result'; result: ToolResult }
  | { kind: 'threw'; message: string };

const startUpS = 30;
const maxHeapMiB = 512;

/**
 * A tool that runs in threads of its own, one call at a time in each, so that a call can be ended even while it
 * loops. A thread is kept for the next call and terminated only when a call overruns, fails or is aborted: what a
 * tool keeps in module variables is seen by later calls.
 *
 * Not a sandbox: the thread shares the process's files and network. Its environment variables are empty.
 */
export class IsolatedTool {
  readonly #idle: Worker[] = [];

  constructor(
    private readonly name: string,
    private readonly url: string,
    private readonly hooks: readonly ModuleHooks[] = [],
    private readonly settings: ToolSettings = {},
  ) {}

  /** The deadline starts when the thread is ready: importing the tool does not count. */
  async call(
    call: IsolatedCall,
    deadline: { seconds: number; signal: AbortSignal },
  ): Promise<Timed<ToolResult>> {
    const worker = this.#idle.pop() ?? (await this.#start(deadline.signal));
    try {
      const timed = await withDeadline(async () => ask(worker, call), deadline);
      if (timed === 'timeout') await worker.terminate();
      else this.#idle.push(worker);
      return timed;
    } catch (thrown) {
      await worker.terminate();
      if (isOutOfMemory(thrown)) {
        const content = `Error: ${this.name} was stopped: it needed more than ${maxHeapMiB} MiB.`;
        return { value: { content, isError: true } };
      }
      throw thrown;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(async (worker) => worker.terminate()));
  }

  #drop(worker: Worker): void {
    const place = this.#idle.indexOf(worker);
    if (place >= 0) this.#idle.splice(place, 1);
  }

  async #start(signal: AbortSignal): Promise<Worker> {
    const worker = new Worker(
      compiledTwin(new URL(`./isolated-tool-thread${extname(import.meta.url)}`, import.meta.url)),
      {
        workerData: {
          name: this.name,
          settings: this.settings,
          url: compiledTwin(new URL(this.url)).href,
          hooks: this.hooks,
        } satisfies IsolatedStart,
        env: {},
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
      },
    );
    worker.unref();
    // Also while idle: a stray failure of the tool ends its thread and not the run.
    worker.on('error', () => this.#drop(worker)).on('exit', () => this.#drop(worker));
    try {
      const within = { seconds: startUpS, signal };
      const started = await withDeadline(async () => nextMessage<IsolatedAnswer>(worker), within);
      if (started !== 'timeout' && started.value.kind === 'ready') return worker;
      const why =
        started === 'timeout' ? `it did not load in ${startUpS} s` : describe(started.value);
      throw new Error(`The thread of the isolated tool "${this.name}" could not start: ${why}.`);
    } catch (thrown) {
      await worker.terminate();
      throw thrown;
    }
  }
}

const describe = (answer: IsolatedAnswer): string =>
  'message' in answer ? answer.message : answer.kind;

async function ask(worker: Worker, call: IsolatedCall): Promise<ToolResult> {
  const answer = nextMessage<IsolatedAnswer>(worker);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(call);
  const received = await answer;
  if (received.kind === 'result') return received.result;
  throw new Error(describe(received));
}

const isOutOfMemory = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY';
