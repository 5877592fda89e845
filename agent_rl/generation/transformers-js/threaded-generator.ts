import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { Generator } from '../../core/services/generator.ts';
import { keepFullFloat32 } from '../../engine/full-float32.ts';
import { RpcClient } from '../../threads/rpc.ts';
import { moduleBeside } from '../../threads/thread.ts';
import type { GeneratorMethods } from './generator-thread.ts';
import type { TransformersJsOptions } from './open-transformers-js.ts';

/**
 * Opens an ONNX model folder with `@huggingface/transformers` in a thread of its own, so that tools and their deadlines
 * do not wait for the model.
 *
 * @throws AgentRlError as `openTransformersJs` does; `GENERATION_FAILED` when the thread ends while it starts
 */
export async function openInThread(options: TransformersJsOptions): Promise<Generator> {
  keepFullFloat32(options.device);
  const entry = moduleBeside(import.meta.url, 'generator-thread');
  const thread = await RpcClient.open<GeneratorMethods>({ entry, data: options, ended });
  return {
    describe: () => thread.call('describe', []),
    generate: async (request, signal) => {
      if (signal?.aborted === true && !thread.ended)
        return { tokens: [], logProbs: [], stop: 'aborted', version: 0 };
      return thread.call('generate', [request], signal);
    },
    release: (episode) => thread.release(episode),
    close: () => thread.close(),
  };
}

const ended = (cause: unknown): AgentRlError =>
  new AgentRlError(
    'GENERATION_FAILED',
    `The thread of policy transformers-js exited (${messageOf(cause)}). If memory ran out, lower rollout.workers or policy.maxContextTokens.`,
    { cause },
  );
