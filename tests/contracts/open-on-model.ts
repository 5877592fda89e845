import type { GeneratorHost } from '../../agent_rl/core/plugins/model/generator.ts';
import type { LearnerHost } from '../../agent_rl/core/plugins/model/learner.ts';
import { unbiased } from '../../agent_rl/core/services/generator.ts';
import { scorerOf } from '../../agent_rl/core/services/scorer.ts';
import { EngineClient } from '../../agent_rl/engine-thread/engine-client.ts';
import { describeModel } from '../../model/weights/open-model.ts';

export interface OpenOnModelOptions {
  /** Most tokens of a context; 128 by default. */
  maxContextTokens?: number;
  /** 1 by default. */
  seed?: number;
}

/**
 * Opens a generator or learner plugin on the model in a folder, as a run on the CPU does. Engines that it asks its host for
 * are its own, and end when it is closed.
 *
 * @param settings its settings, defaults filled in
 * @example describeLearnerContract('mine', { open: () => openOnModel(mine, {}, 'my-model'), vocabSize: 1024 });
 */
export async function openOnModel<Settings, Part extends { close(): Promise<void> }>(
  plugin: (settings: Settings, host: GeneratorHost & LearnerHost) => Promise<Part>,
  settings: Settings,
  modelFolder: string,
  { maxContextTokens = 128, seed = 1 }: OpenOnModelOptions = {},
): Promise<Part> {
  const { config } = await describeModel({ folder: modelFolder });
  const loss = { name: 'cross_entropy' } as const;
  const shared = { modelFolder, seed, threads: 1, maxContextTokens };
  const learning = { microBatchTokens: 2 * maxContextTokens, reference: false };
  const engines: Promise<EngineClient>[] = [];
  const open = (device = 'cpu'): Promise<EngineClient> => {
    const training = { longestTokens: maxContextTokens, loss };
    const engine = EngineClient.open({ ...shared, ...learning, device, rows: 4, training });
    engines.push(engine);
    return engine;
  };
  let common: Promise<EngineClient> | undefined;
  const part = await plugin(settings, {
    ...shared,
    ...learning,
    adapters: [],
    newAdapter: false,
    textFolder: modelFolder,
    vocabSize: config.vocabSize,
    device: 'cpu',
    episodes: 4,
    samplings: [unbiased],
    scorer: {
      score: async (...asked) => scorerOf((await (common ??= open())).learner).score(...asked),
    },
    trains: true,
    changesWeights: false,
    maxGradNorm: 1,
    loss,
    longestTokens: maxContextTokens,
    environment: process.env,
    warn: (text) => process.stderr.write(`${text}\n`),
    signal: new AbortController().signal,
    engine: (device?: string) => (device === undefined ? (common ??= open()) : open(device)),
  });
  const close = async (): Promise<void> => {
    await part.close();
    for (const engine of engines) await (await engine).close();
  };
  return new Proxy(part, {
    get(target, name) {
      if (name === 'close') return close;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
