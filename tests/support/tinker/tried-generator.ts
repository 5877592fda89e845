import type { GeneratorHost } from '#agent_rl/core/plugins/model/generator.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import { generatorHost } from '../generator-host.ts';
import { starter } from './tried-learner.ts';

/** What a generator of a training of a new adapter is opened with. */
export const adapterHost = (over: Partial<GeneratorHost> = {}): GeneratorHost =>
  generatorHost(starter, { episodes: 2, samplings: [unbiased], newAdapter: true, ...over });
