import type { Generator } from '../../core/services/generator.ts';
import { type Scorer, scorerOf } from '../../core/services/scorer.ts';
import type { EngineClient } from '../../engine-thread/engine-client.ts';
import type { ResolvedRun } from '../resolve-run.ts';
import { type EngineRequest, longestTokens, sampling } from './open-engine.ts';
import { frozenBySetting, withSetting } from './resolve-frozen.ts';
import type { ResolvedModel } from './resolve-model.ts';

/** The engines of a run's frozen models. */
export interface FrozenServices {
  /** By agent. */
  opponents: ReadonlyMap<string, Generator>;
  /** The reference of the KL term, if the run names one. */
  reference?: Scorer;
}

/** Opens an engine of its own for a model. */
export type OpenOwnEngine = (
  model: ResolvedModel,
  request: Omit<EngineRequest, 'signal'>,
) => Promise<EngineClient>;

/** Only scores sequences: the context is as long as the longest one, so that positions are checked. */
const samplesNothing = ({ longest }: { longest: number }) => ({
  rows: 1,
  maxContextTokens: longest,
});

/**
 * Opens an engine for each frozen model of a run, one after another, so that a model that does not fit in the remaining
 * memory is refused.
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
