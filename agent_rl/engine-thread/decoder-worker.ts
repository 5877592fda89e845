import type { GenerationRequest } from '../core/services/generator.ts';
import { openEngine } from '../engine/open-engine.ts';
import { LocalGenerator } from '../generation/local-generator.ts';
import { DecoderPrograms, type Packed } from '../generation/programs/decoder-programs.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { serveRpc } from '../threads/rpc.ts';
import type { EngineServiceOptions } from './engine-options.ts';
import { ownWeights, type SharedWeights } from './shared-weights.ts';

/*
 * Entry of a thread that only draws tokens: an engine and a generator, which is given its weights.
 */

export interface DecoderOptions extends Pick<
  EngineServiceOptions,
  'device' | 'threads' | 'rows' | 'maxContextTokens'
> {
  config: ModelConfig;
  packs: Packed | undefined;
  memorySettings: string;
}

export type DecoderMethods = Awaited<ReturnType<typeof open>>;

const open = async ({ config, memorySettings, ...options }: DecoderOptions) => {
  const { device, threads, maxContextTokens, packs } = options;
  const engine = await openEngine({ device, threads, memorySettings });
  const programs = new DecoderPrograms(engine, config, maxContextTokens, { threads, packs });
  const generator = new LocalGenerator(programs, options);
  return {
    generate: ([request]: [GenerationRequest], signal: AbortSignal) =>
      generator.generate(request, signal),
    release: ([episode]: [string]) => generator.release(episode),
    use: ([{ weights, version }]: [SharedWeights]) =>
      generator.setWeights(ownWeights(weights), version),
    info: () => ({ totals: generator.totals, cacheBytes: generator.cacheBytes }),
    close: () => engine.close(),
  };
};

await serveRpc(open);
