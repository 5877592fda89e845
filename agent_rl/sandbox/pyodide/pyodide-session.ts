import { messageOf } from '../../core/errors.ts';
import type { SandboxLimits, SandboxSession, SessionRun } from '../../core/services/sandbox.ts';
import { abortable, follow, underSignals } from '../../core/stopping/abort.ts';
import { FairQueue } from '../layers/take-turns.ts';
import type { ChildRequest, ChildResult } from './protocol.ts';
import { childLimits, failed, runResultOf } from './run-results.ts';
import { ChildDied, type SandboxChild } from './sandbox-child.ts';

export interface PyodideSessionOptions {
  /** Limits of programs whose request sets none. */
  limits: Required<SandboxLimits>;
  seed: number;
  /** Time for all programs together. */
  totalWallS: number;
  start: () => SandboxChild;
  /** Ends the session as `close` does. */
  closing: AbortSignal;
}

type SessionProgram = Parameters<SandboxSession['run']>[0];

/** A session in a child process of its own, which starts with the first program. */
export class PyodideSession implements SandboxSession {
  /** Programs run one after another. */
  readonly #turns = new FairQueue(1);
  readonly #close = new AbortController();
  #child: SandboxChild | undefined;
  #usedMs = 0;

  constructor(private readonly options: PyodideSessionOptions) {
    this.#closed.addEventListener('abort', follow(this.#close, [options.closing]));
  }

  get #closed(): AbortSignal {
    return this.#close.signal;
  }

  /** @throws the signal's reason when it is aborted; if the program was running, that ends the interpreter. */
  run(request: SessionProgram, signal?: AbortSignal): Promise<SessionRun> {
    return this.#turns.run('', signal, () => this.#run(request, signal));
  }

  async close(): Promise<void> {
    this.#close.abort(new Error('the session has been closed'));
    await this.#turns.run('', undefined, () => this.#end());
  }

  async #run(request: SessionProgram, signal?: AbortSignal): Promise<SessionRun> {
    const limits = childLimits({ ...this.options.limits, ...request.limits });
    if (this.#leftMs <= 0 && !this.#closed.aborted)
      return { ...failed('timeout', this.#usedUp), alive: false };
    try {
      this.#closed.throwIfAborted();
      const child = (this.#child ??= this.#start());
      await underSignals([this.#closed, signal], (either) => abortable(child.ready(), either));
      const { code, stdin = '' } = request;
      const wallMs = Math.min(limits.wallMs, this.#leftMs);
      return await this.#runIn(child, { ...limits, code, stdin, wallMs }, signal);
    } catch (error) {
      await this.#end();
      signal?.throwIfAborted();
      return { ...failed('sandbox_error', messageOf(error)), alive: false };
    }
  }

  /** An interpreter, which closing the session ends whatever it is doing. */
  #start(): SandboxChild {
    const child = this.options.start();
    const kill = (): void => child.kill('the session has been closed');
    this.#closed.addEventListener('abort', kill, { once: true });
    void child.died.then(() => this.#closed.removeEventListener('abort', kill));
    return child;
  }

  async #runIn(
    child: SandboxChild,
    program: Omit<ChildRequest, 'id' | 'seed' | 'task'>,
    signal: AbortSignal | undefined,
  ): Promise<SessionRun> {
    const cancel = (): void => child.kill('the program was cancelled');
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
    const { seed } = this.options;
    try {
      const result = await child.run({ ...program, id: 0, seed, task: { kind: 'session' } });
      return await this.#finished(result);
    } catch (error) {
      // If the child was not cancelled, closed or killed from outside, its program ended it.
      const byProgram = error instanceof ChildDied && !error.fromOutside && !this.#closed.aborted;
      if (!byProgram || signal?.aborted === true) throw error;
      await this.#end();
      return { ...failed('crashed', error.message), alive: false };
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async #finished(result: ChildResult): Promise<SessionRun> {
    this.#usedMs += result.wallMs;
    const over = result.status === 'timeout' && this.#leftMs <= 0;
    const alive = result.alive && !over;
    if (!alive) await this.#end();
    const ran = runResultOf(result);
    return { ...ran, message: over ? this.#usedUp : ran.message, alive };
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    child?.kill('the session ended');
    await child?.died;
  }

  get #leftMs(): number {
    return this.options.totalWallS * 1000 - this.#usedMs;
  }

  get #usedUp(): string {
    return `the programs of the session used up their ${this.options.totalWallS} s together`;
  }
}
