import type { GeneratorHost } from '#agent_rl/core/plugins/model/generator.ts';

/** What a generator of a training on a CPU is opened with. */
export const generatorHost = (
  modelFolder: string,
  over: Partial<GeneratorHost> = {},
): GeneratorHost => ({
  modelFolder,
  textFolder: modelFolder,
  vocabSize: 1024,
  device: 'cpu',
  threads: 1,
  maxContextTokens: 64,
  episodes: 4,
  samplings: [],
  scorer: { score: () => Promise.reject(new Error('It needs no scores.')) },
  trains: true,
  adapters: [],
  newAdapter: false,
  environment: {},
  warn: () => undefined,
  signal: new AbortController().signal,
  engine: () => Promise.reject(new Error('It needs no engine.')),
  ...over,
});
