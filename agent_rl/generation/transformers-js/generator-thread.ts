import type { GenerationRequest, Generator } from '../../core/services/generator.ts';
import { serveRpc } from '../../threads/rpc.ts';
import { openTransformersJs, type TransformersJsOptions } from './open-transformers-js.ts';

/*
 * Entry of the thread in which transformers.js generates: running a model blocks the thread that does it.
 */

export type GeneratorMethods = ReturnType<typeof methodsOf>;

const methodsOf = (generator: Generator) => ({
  describe: () => generator.describe(),
  generate: ([request]: [GenerationRequest], signal: AbortSignal) =>
    generator.generate(request, signal),
  release: ([episode]: [string]) => generator.release(episode),
  close: () => generator.close(),
});

await serveRpc(async (options: TransformersJsOptions) =>
  methodsOf(await openTransformersJs(options)),
);
