import type { Generator } from '../../core/services/generator.ts';
import { type Scorer, scorerOf } from '../../core/services/scorer.ts';
import type { EngineClient } from '../../engine-thread/engine-client.ts';
import type { ResolvedRun } from '../resolve-run.ts';
import { type EngineRequest, longestTokens, sampling } from './open-engine.ts';
import { frozenBySetting, withSetting } from './resolve-frozen.ts';
import type { ResolvedModel } from './resolve-model.ts';

/** What computes with the weights of a run that stay as they are. */
export interface FrozenServices {
  /** By the agent they play. */
  opponents: ReadonlyMap<string, Generator>;
  /** What a KL term pulls towards, where the run names it. */
  reference?: Scorer;
}

/** Opens an engine of its own for a model. */
export type OpenOwnEngine = (
  model: ResolvedModel,
  request: Omit<EngineRequest, 'signal'>,
) => Promise<EngineClient>;

/** Only scores: the context is as long as the longest sequence, so that its positions are checked. */
const samplesNothing = ({ longest }: { longest: number }) => ({
  rows: 1,
  maxContextTokens: longest,
});

/**
 * Opens an engine for each frozen model of a run, one after another, so that each is refused if it does not fit beside
 * those before it.
 *
 * @throws AgentRlError that begins with the setting that names the model
 */
export async function openFrozen(
  { config, frozen }: Pick<ResolvedRun, 'config' | 'frozen'>,
  workers: number,
  open: OpenOwnEngine,
): Promise<FrozenServices> {
  const engines = new Map<ResolvedModel, EngineClient>();
  for (const [setting, model] of frozenBySetting(frozen)) {
    if (engines.has(model)) continue;
    const plays = [...frozen.agents.values()].includes(model);
    const longest = longestTokens(config);
    const request = {
      ...(plays ? sampling(config, workers) : samplesNothing({ longest })),
      ...(frozen.reference === model && { scores: { longestTokens: longest } }),
    };
    engines.set(model, await withSetting(setting, () => open(model, request)));
  }
  const engineOf = (model: ResolvedModel): EngineClient => {
    const engine = engines.get(model);
    if (engine === undefined) throw new Error(`No engine was opened for ${model.folder}.`);
    return engine;
  };
  const { agents, reference } = frozen;
  return {
    opponents: new Map([...agents].map(([agent, model]) => [agent, engineOf(model).generator])),
    ...(reference && { reference: scorerOf(engineOf(reference).learner) }),
  };
}
