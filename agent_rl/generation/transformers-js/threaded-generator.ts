import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

import { compiledTwin } from '../../core/compiled-twin.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { Generation, GenerationRequest } from '../../core/services/generator.ts';
import { nextMessage } from '../../threads/thread.ts';
import type { OwnGenerator } from '../../core/plugins/policy.ts';
import { fromSentError } from '../../core/sent-error.ts';
import { keepFullFloat32 } from '../../engine/full-float32.ts';
import type { ThreadAnswer, ThreadCall } from './generator-thread.ts';
import type { TransformersJsOptions } from './open-transformers-js.ts';

/**
 * Opens an ONNX model folder with `@huggingface/transformers` in a thread of its own, so that tools and their deadlines
 * do not wait for the model.
 *
 * @throws AgentRlError as `openTransformersJs` does; `GENERATION_FAILED` when the thread ends while it starts
 */
export async function openInThread(options: TransformersJsOptions): Promise<OwnGenerator> {
  keepFullFloat32(options.device);
  const entry = new URL(`./generator-thread${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(compiledTwin(entry), { workerData: options, env: {}, execArgv: [] });
  try {
    const first = await nextMessage<ThreadAnswer>(worker).catch((cause: unknown) => {
      throw ended(cause);
    });
    if (first.kind === 'refused') throw fromSentError(first.error);
    if (first.kind === 'ready') return new ThreadedGenerator(worker, first.maxContextTokens);
    throw ended(new Error(`its first word was ${first.kind}`));
  } catch (thrown) {
    await worker.terminate();
    throw thrown;
  }
}

interface Pending {
  resolve: (generation: Generation) => void;
  reject: (problem: unknown) => void;
}

/** The thread seen from this one. */
class ThreadedGenerator implements OwnGenerator {
  readonly maxContextTokens: number;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #ended: Error | undefined;
  #closed: (() => void) | undefined;

  constructor(worker: Worker, maxContextTokens: number) {
    this.#worker = worker;
    this.maxContextTokens = maxContextTokens;
    worker.on('message', (answer: ThreadAnswer) => this.#settle(answer));
    worker.on('error', (problem) => this.#fail(ended(problem)));
    worker.on('exit', (code) => this.#fail(ended(new Error(`exit code ${code}`))));
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (signal?.aborted === true)
      return Promise.resolve({ tokens: [], logProbs: [], stop: 'aborted', version: 0 });
    const id = this.#nextId++;
    const abort = (): void => this.#say({ kind: 'abort', id });
    const answer = new Promise<Generation>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
    this.#say({ kind: 'generate', id, request });
    signal?.addEventListener('abort', abort, { once: true });
    return answer.finally(() => signal?.removeEventListener('abort', abort));
  }

  release(episode: string): void {
    this.#say({ kind: 'release', episode });
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    this.#say({ kind: 'close' });
    await closed;
    this.#fail(new AgentRlError('GENERATION_FAILED', 'The generator was closed.'));
    await this.#worker.terminate();
  }

  #say(call: ThreadCall): void {
    this.#worker.postMessage(call, []);
  }

  #settle(answer: ThreadAnswer): void {
    if (answer.kind === 'closed') this.#closed?.();
    if (answer.kind !== 'generated' && answer.kind !== 'failed') return;
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (answer.kind === 'generated') pending?.resolve(answer.generation);
    else pending?.reject(fromSentError(answer.error));
  }

  #fail(problem: Error): void {
    this.#ended ??= problem;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
    this.#closed?.();
  }
}

const ended = (cause: unknown): AgentRlError =>
  new AgentRlError(
    'GENERATION_FAILED',
    `The thread of policy transformers-js ended (${messageOf(cause)}). If memory ran out, lower rollout.workers or policy.maxContextTokens.`,
    { cause },
  );
