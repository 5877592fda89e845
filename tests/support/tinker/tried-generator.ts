import type { GeneratorHost } from '#agent_rl/core/plugins/model/generator.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import { starter } from './tried-learner.ts';

export const generatorHost = (over: Partial<GeneratorHost> = {}): GeneratorHost => ({
  modelFolder: starter,
  textFolder: starter,
  vocabSize: 1024,
  device: 'cpu',
  threads: 1,
  maxContextTokens: 64,
  episodes: 2,
  samplings: [unbiased],
  trains: true,
  newAdapter: true,
  environment: {},
  warn: () => undefined,
  signal: new AbortController().signal,
  engine: () => Promise.reject(new Error('No engine is asked for.')),
  ...over,
});
