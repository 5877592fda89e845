import type { GenerationRequest } from '../core/services/generator.ts';
import { serveRpc } from '../threads/rpc.ts';
import { type DecoderOptions, openDecoder } from './decoder-service.ts';
import type { SharedWeights } from './shared-weights.ts';

/*
 * Entry of a thread that only draws tokens.
 */

export type DecoderMethods = ReturnType<typeof methodsOf>;

const methodsOf = ({ generator, use, close }: Awaited<ReturnType<typeof openDecoder>>) => ({
  generate: ([request]: [GenerationRequest], signal: AbortSignal) =>
    generator.generate(request, signal),
  release: ([episode]: [string]) => generator.release(episode),
  use: ([weights]: [SharedWeights]) => use(weights),
  totals: () => generator.totals,
  cacheBytes: () => generator.cacheBytes,
  close,
});

await serveRpc(async (options: DecoderOptions) => methodsOf(await openDecoder(options)));
