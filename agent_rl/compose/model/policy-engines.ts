import type { EventLog } from '../../core/services/event-log.ts';
import type { Cleanup } from '../../core/stopping/cleanup.ts';
import type { EngineClient } from '../../engine-thread/engine-client.ts';
import { sumOfPlans } from '../../engine-thread/memory-plan.ts';
import type { ResolvedRun } from '../resolve-run.ts';
import { collecting, type Imitation, learning, longestTokens, openEngine } from './open-engine.ts';

export interface ModelServicesRequest {
  /** Most episodes at once. */
  workers: number;
  /** Whether its weights will be changed. */
  trains: boolean;
  /** What is imitated where training is supervised; absent in reinforcement learning. */
  imitates?: Imitation | undefined;
  /** Whether its samples are never compared with recorded ones, so that floating-point differences are allowed. */
  packs?: boolean | undefined;
  /** Receives what generators and learners repaired or skipped. */
  incidents: EventLog<string>;
  /** Cancels the opening. */
  signal: AbortSignal;
}

/** What an engine is opened for. */
export interface PolicyOf extends Pick<ResolvedRun, 'config' | 'chosen' | 'model'> {
  /** Whether it has a learner. */
  learns: boolean;
  /** Whether it samples, for episodes or, of the policy at the top level, for requests. */
  plays: boolean;
  /** How many of its likeliest tokens are asked for where it scores tokens; absent where it does not. */
  lists?: number | undefined;
}

/** The engines of a policy: the one that generator and learner share, and engines that only learn. */
export class PolicyEngines {
  #shared: Promise<EngineClient> | undefined;

  /** @param all the engines of the run, which share its memory */
  constructor(
    private readonly policy: PolicyOf,
    private readonly request: ModelServicesRequest,
    private readonly opened: Cleanup,
    private readonly all: EngineClient[],
  ) {}

  shared(): Promise<EngineClient> {
    return (this.#shared ??= this.#openShared());
  }

  /** An engine that only learns. */
  async learning(device: string): Promise<EngineClient> {
    const { config, model, chosen } = this.policy;
    const { signal, imitates } = this.request;
    const sizes = { rows: 1, maxContextTokens: 16, ...learning(config, chosen.loss, imitates) };
    return this.#keep(openEngine(config, model, { ...sizes, signal }, device));
  }

  /** In the memory that the engines opened before leave. */
  async #openShared(): Promise<EngineClient> {
    const { config, model, chosen, plays, lists } = this.policy;
    const { workers, trains, imitates, packs = false, signal } = this.request;
    const samples = plays && chosen.generator.entry.spec.engine === true;
    const learns = trains && chosen.learner.entry.spec.engine === true;
    const longest = longestTokens(config);
    const plans = await Promise.all(this.all.map(async (engine) => (await engine.info()).plan));
    return this.#keep(
      openEngine(config, model, {
        // With few positions, a sequence that is longer than what it may score would be refused.
        ...(samples
          ? collecting(config, model, workers)
          : { rows: 1, maxContextTokens: lists === undefined ? 16 : longest }),
        ...(learns && learning(config, chosen.loss, imitates)),
        ...(lists !== undefined && { scores: { longestTokens: longest, topK: lists } }),
        ...(plans.length > 0 && { beside: sumOfPlans(plans).total }),
        trains,
        packs,
        signal,
      }),
    );
  }

  async #keep(opening: Promise<EngineClient>): Promise<EngineClient> {
    const engine = this.opened.add(await opening);
    this.all.push(engine);
    return engine;
  }
}
