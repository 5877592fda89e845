import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { AgentRlError, messageOf } from '../core/errors.ts';
import type { Generation, GenerationRequest, Generator } from '../core/services/generator.ts';
import type { Learner } from '../core/services/learner.ts';
import { packageRoot } from '../core/package-root.ts';
import { keepFullFloat32 } from '../engine/full-float32.ts';
import { fromSentError } from '../core/sent-error.ts';
import type { EngineAnswer } from './engine-messages.ts';
import type { EngineInfo, EngineServiceOptions } from './engine-service.ts';

interface Pending {
  resolve: (value: never) => void;
  reject: (problem: unknown) => void;
}

/**
 * The engine thread seen from the main thread: a `Learner` and a `Generator`.
 *
 * Running a program blocks its thread, so it has one of its own while environments, tools and input and output
 * stay here.
 */
export class EngineClient implements Learner, Generator {
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #ended: Error | undefined;
  #closing = false;

  private constructor(
    private readonly worker: Worker,
    readonly maxContextTokens: number,
  ) {
    worker.on('message', (answer: EngineAnswer) => this.#settle(answer));
    worker.on('error', (problem) => this.#fail(problem));
    worker.on('exit', () => this.#fail(undefined));
  }

  /** @throws AgentRlError of whatever kept the engine or the model from opening. */
  static async open(options: EngineServiceOptions): Promise<EngineClient> {
    keepFullFloat32(options.device);
    const file = join(packageRoot(), 'dist/agent_rl/engine-thread/engine-worker.js');
    const worker = new Worker(file, { workerData: options, env: {} });
    const first = await firstAnswer(worker);
    if ('error' in first) {
      await worker.terminate();
      throw fromSentError(first.error);
    }
    return new EngineClient(worker, (first.value as { maxContextTokens: number }).maxContextTokens);
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const id = this.#nextId;
    const abort = () => this.worker.postMessage({ abort: id }, []);
    const answer = this.#call<Generation>('generate', request);
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    return answer.finally(() => signal?.removeEventListener('abort', abort));
  }

  release(episode: string): void {
    // A release needs no answer, and an engine that ended has nothing to forget.
    this.#call('release', episode).catch(() => undefined);
  }

  forward(...args: Parameters<Learner['forward']>) {
    return this.#call<readonly Float32Array[]>('forward', ...args);
  }

  forwardBackward(...args: Parameters<Learner['forwardBackward']>) {
    return this.#call<Awaited<ReturnType<Learner['forwardBackward']>>>('forwardBackward', ...args);
  }

  optimStep(...args: Parameters<Learner['optimStep']>) {
    return this.#call<Awaited<ReturnType<Learner['optimStep']>>>('optimStep', ...args);
  }

  saveState(folder: string) {
    return this.#call<{ weightsSha256: string }>('saveState', folder);
  }

  loadState(folder: string) {
    return this.#call<void>('loadState', folder);
  }

  publishWeights() {
    return this.#call<number>('publishWeights');
  }

  info() {
    return this.#call<EngineInfo>('info');
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined || this.#closing) return;
    await this.#call('close');
    this.#closing = true;
    await this.worker.terminate();
  }

  #call<Value>(method: string, ...args: readonly unknown[]): Promise<Value> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    return new Promise<Value>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.worker.postMessage({ id, method, args }, []);
    });
  }

  #settle(answer: EngineAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if ('error' in answer) pending?.reject(fromSentError(answer.error));
    else pending?.resolve(answer.value as never);
  }

  #fail(problem: unknown): void {
    const why = problem === undefined ? '' : ` (${messageOf(problem)})`;
    this.#ended ??= new AgentRlError(
      'ENGINE_FAILED',
      `The engine thread ended${why}. If memory ran out, lower algorithm.microBatchTokens, rollout.workers or policy.maxContextTokens.`,
      { cause: problem },
    );
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }
}

/** What the thread says of its start. The listeners it needs are taken off one by one: the worker has its own. */
function firstAnswer(worker: Worker): Promise<EngineAnswer> {
  return new Promise((resolve, reject) => {
    const exited = (code: number): void =>
      settle(() =>
        reject(
          new AgentRlError(
            'ENGINE_FAILED',
            `The engine thread ended with code ${code} while starting.`,
          ),
        ),
      );
    const failed = (problem: unknown): void => settle(() => reject(problem));
    const answered = (answer: EngineAnswer): void => settle(() => resolve(answer));
    const settle = (then: () => void): void => {
      worker.off('message', answered).off('error', failed).off('exit', exited);
      then();
    };
    worker.on('message', answered).on('error', failed).on('exit', exited);
  });
}
