import type { AgentContext } from '../../core/plugins/agent.ts';
import { abortable, inTime } from '../../core/stopping/abort.ts';
import { RpcClient } from '../../threads/rpc.ts';
import { moduleBeside } from '../../threads/thread.ts';
import type { AgentFileStart } from './agent-file.ts';
import type { AgentThreadMethods } from './agent-thread.ts';
import { type AgentRunner, answerOf, callOf } from './agent-runner.ts';

type AgentThread = RpcClient<AgentThreadMethods>;

const startUpS = 30;
/** How long a thread may take to respond to a health check. */
const pingS = 5;
const never = new AbortController().signal;

/** Plays all rollouts in one thread, several at a time. A dead or blocked thread is replaced; its rollouts fail. */
export class ThreadRunner implements AgentRunner {
  #thread: Promise<AgentThread> | undefined;
  #stuck = false;

  constructor(
    private readonly file: AgentFileStart,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /** Starts the thread, so that a file that cannot be loaded fails before anything slow starts. */
  async open(): Promise<this> {
    await this.#live();
    return this;
  }

  async run(context: AgentContext): Promise<unknown> {
    const { signal } = context;
    const thread = await this.#live();
    try {
      return answerOf(await abortable(thread.call('run', [callOf(context)], signal), signal));
    } catch (thrown) {
      // Only a health check shows that a thread loops and will not answer.
      if (signal.aborted) void this.#endIfStuck(thread);
      throw thrown;
    }
  }

  async close(): Promise<void> {
    const thread = await this.#thread?.catch(() => undefined);
    await thread?.terminate();
  }

  async #live(): Promise<AgentThread> {
    const before = this.#thread;
    const thread = await before?.catch(() => undefined);
    if (thread?.ended === false) return thread;
    // Another rollout may have replaced it meanwhile.
    if (before === this.#thread) this.#thread = this.#opened();
    return this.#thread ?? this.#opened();
  }

  #opened(): Promise<AgentThread> {
    const { file, env } = this;
    this.#stuck = false;
    const late = new Error(`The agent ${file.path} did not load within ${startUpS} s.`);
    return RpcClient.open<AgentThreadMethods>({
      entry: moduleBeside(import.meta.url, 'agent-thread'),
      data: file,
      env,
      ended: (cause) => {
        const why = this.#stuck
          ? 'it was stopped because it was blocked when a rollout ended'
          : cause.message;
        return new Error(`The thread of the agent ${file.path} ended: ${why}`, { cause });
      },
      startUp: { seconds: startUpS, signal: never, late },
    });
  }

  async #endIfStuck(thread: AgentThread): Promise<void> {
    const late = new Error('it does not respond');
    try {
      await inTime(() => thread.call('ping', []), { seconds: pingS, signal: never, late });
    } catch {
      this.#stuck = !thread.ended;
      await thread.terminate();
    }
  }
}
