import type { EventLog } from '../../core/services/event-log.ts';
import type { Cleanup } from '../../core/stopping/cleanup.ts';
import type { EngineClient } from '../../engine-thread/engine-client.ts';
import { sumOfPlans } from '../../engine-thread/memory-plan.ts';
import type { ResolvedRun } from '../resolve-run.ts';
import {
  collecting,
  type EngineRequest,
  type Imitation,
  learning,
  openEngine,
} from './open-engine.ts';
import type { ResolvedModel } from './resolve-model.ts';

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

/** The least cache that an engine can have. */
const samplesNothing = { rows: 1, maxContextTokens: 16 };

/**
 * The engines of a run: the one that generator and learner share, engines that only learn, and engines of frozen
 * models.
 */
export class RunEngines {
  readonly all: EngineClient[] = [];
  #shared: Promise<EngineClient> | undefined;

  constructor(
    private readonly run: ResolvedRun,
    private readonly request: ModelServicesRequest,
    private readonly opened: Cleanup,
  ) {}

  shared(): Promise<EngineClient> {
    return (this.#shared ??= this.#openShared());
  }

  /** An engine that only learns. */
  async learning(device: string): Promise<EngineClient> {
    const { config, model, chosen } = this.run;
    const { signal, imitates } = this.request;
    return this.#keep(
      openEngine(
        config,
        model,
        { ...samplesNothing, ...learning(config, chosen.loss, imitates), signal },
        device,
      ),
    );
  }

  /** An engine for a frozen model, in the memory that the others leave. */
  async frozen(
    model: ResolvedModel,
    request: Omit<EngineRequest, 'signal'>,
  ): Promise<EngineClient> {
    const { signal } = this.request;
    const plans = await Promise.all(this.all.map(async (engine) => (await engine.info()).plan));
    const { total: beside } = sumOfPlans(plans);
    return this.#keep(
      openEngine(this.run.config, model, { ...request, trains: false, beside, signal }),
    );
  }

  #openShared(): Promise<EngineClient> {
    const { config, model, chosen } = this.run;
    const { workers, trains, imitates, packs = false, signal } = this.request;
    const samples = chosen.generator.entry.spec.engine === true;
    const learns = trains && chosen.learner.entry.spec.engine === true;
    return this.#keep(
      openEngine(config, model, {
        ...(samples ? collecting(config, model, workers) : samplesNothing),
        ...(learns && learning(config, chosen.loss, imitates)),
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
