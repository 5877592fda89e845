import { openEngine } from '../engine/open-engine.ts';
import { DecoderPrograms } from '../generation/programs/decoder-programs.ts';
import { LocalGenerator } from '../generation/local-generator.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import type { EngineServiceOptions } from './engine-options.ts';
import { ownWeights, type SharedWeights } from './shared-weights.ts';

/** What a thread that only draws is opened with. */
export interface DecoderOptions extends Pick<
  EngineServiceOptions,
  'device' | 'threads' | 'rows' | 'maxContextTokens' | 'packs'
> {
  config: ModelConfig;
  memorySettings: string;
}

/** What lives in a thread that only draws: an engine and a generator, which is given its weights. */
export async function openDecoder({ config, memorySettings, ...options }: DecoderOptions) {
  const { device, threads, maxContextTokens, packs } = options;
  const engine = await openEngine({ device, threads, memorySettings });
  const programs = new DecoderPrograms(engine, config, maxContextTokens, { threads, packs });
  const generator = new LocalGenerator(programs, options);
  return {
    generator,
    use: ({ weights, version }: SharedWeights) =>
      generator.setWeights(ownWeights(weights), version),
    close: () => engine.close(),
  };
}
