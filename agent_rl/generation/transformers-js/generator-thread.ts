import { parentPort, workerData, type MessagePort } from 'node:worker_threads';

import type { Generation, GenerationRequest } from '../../core/services/generator.ts';
import { type SentError, toSentError } from '../../core/sent-error.ts';
import { openTransformersJs, type TransformersJsOptions } from './open-transformers-js.ts';

/*
 * Entry of the thread in which transformers.js generates: running a model blocks the thread that does it.
 */

/** What the thread is told. */
export type ThreadCall =
  | { kind: 'generate'; id: number; request: GenerationRequest }
  | { kind: 'abort'; id: number }
  | { kind: 'release'; episode: string }
  | { kind: 'close' };

/** What it says: first `ready` or `refused`, then an answer to each request, and `closed`. */
export type ThreadAnswer =
  | { kind: 'ready'; maxContextTokens: number }
  | { kind: 'refused'; error: SentError }
  | { kind: 'generated'; id: number; generation: Generation }
  | { kind: 'failed'; id: number; error: SentError }
  | { kind: 'closed' };

async function serve(port: MessagePort, options: TransformersJsOptions): Promise<void> {
  const say = (answer: ThreadAnswer): void => port.postMessage(answer);
  const generator = await openTransformersJs(options);
  const inFlight = new Map<number, AbortController>();

  const generate = async (id: number, request: GenerationRequest): Promise<void> => {
    const abort = new AbortController();
    inFlight.set(id, abort);
    try {
      say({ kind: 'generated', id, generation: await generator.generate(request, abort.signal) });
    } catch (thrown) {
      say({ kind: 'failed', id, error: toSentError(thrown) });
    } finally {
      inFlight.delete(id);
    }
  };

  port.on('message', async (call: ThreadCall) => {
    if (call.kind === 'generate') await generate(call.id, call.request);
    else if (call.kind === 'abort') inFlight.get(call.id)?.abort();
    else if (call.kind === 'release') generator.release(call.episode);
    else {
      await generator.close();
      say({ kind: 'closed' });
    }
  });
  say({ kind: 'ready', maxContextTokens: generator.maxContextTokens });
}

if (parentPort === null) throw new Error('generator-thread runs in a worker thread only.');
const port = parentPort;
try {
  await serve(port, workerData as TransformersJsOptions);
} catch (thrown) {
  port.postMessage({ kind: 'refused', error: toSentError(thrown) } satisfies ThreadAnswer);
  port.close();
}
