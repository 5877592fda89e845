import type { Engine } from '../engine/engine.ts';
import { openEngine } from '../engine/open-engine.ts';
import { AgentRlError } from '../core/errors.ts';
import type { Generation, GenerationRequest } from '../core/services/generator.ts';
import { DecoderPrograms } from '../generation/decoder-programs.ts';
import { LocalGenerator } from '../generation/local-generator.ts';
import { LocalLearner } from '../learner/local-learner.ts';
import { noRecompute } from '../learner/train-program.ts';
import { countParameters } from '../../model/adapters/adapter.ts';
import { describeModel, type ModelRequest, openModel } from '../../model/weights/open-model.ts';
import { checkCacheFits, checkPlanFits, memoryPlan, type MemoryRequest } from './memory-plan.ts';
import {
  memorySettings,
  type EngineInfo,
  type EngineServiceOptions,
  type ModelFacts,
} from './engine-options.ts';

/**
 * What lives in the engine thread: one engine, one copy of the weights, the learner and the generator on them.
 *
 * The weights are shared and updated in place, so after an optimiser step nothing is generated until they were
 * published: no turn can be drawn from weights that carry no version.
 */
export class EngineService {
  private constructor(
    private readonly engine: Engine,
    readonly learner: LocalLearner,
    readonly generator: LocalGenerator,
    private readonly facts: ModelFacts,
  ) {}

  static async open(options: EngineServiceOptions): Promise<EngineService> {
    const request: ModelRequest = { ...options, folder: options.modelFolder };
    const described = await describeModel(request);
    const { device, threads, rows, maxContextTokens, microBatchTokens, reference } = options;
    checkCacheFits(described.config, { workers: rows, maxContextTokens });
    const memory = { ...noRecompute, recompute: options.recompute ?? 'none' };
    const { training } = options;
    const needs: MemoryRequest = {
      rows,
      maxContextTokens,
      memory,
      ...(training && { training: { ...training, microBatchTokens, reference } }),
    };
    const plan = await memoryPlan(described.config, needs);
    // On another device it is that device's memory that counts, which is not known here.
    if (device === 'cpu') checkPlanFits(plan, described.config, needs);
    const { config, parameters, layers } = await openModel(request);
    const engine = await openEngine({ device, threads, memorySettings: memorySettings(options) });
    const programs = new DecoderPrograms(engine, config, maxContextTokens, true);
    const generator = new LocalGenerator(programs, options);
    await generator.setWeights(parameters, 0);
    // The last adapter is trained where no new one is.
    const under = options.newAdapter === undefined ? layers.adapters.slice(0, -1) : layers.adapters;
    const learner = new LocalLearner(engine, config, parameters, {
      microBatchTokens,
      memory,
      adapter: { seed: options.seed, baseModel: layers.base, under },
      publish: (weights, version) => generator.setWeights(weights, version),
    });
    if (reference) learner.freezeReference();
    return new EngineService(engine, learner, generator, { ...countParameters(config), plan });
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    if (this.learner.published) return this.generator.generate(request, signal);
    throw new AgentRlError(
      'GENERATION_FAILED',
      'The weights changed and were not published. Call publishWeights before sampling.',
    );
  }

  info(): EngineInfo {
    return {
      device: this.engine.device,
      ...this.facts,
      cacheBytes: this.generator.cacheBytes,
      totals: this.generator.totals,
    };
  }

  async close(): Promise<void> {
    await this.learner.close();
    await this.engine.close();
  }
}
