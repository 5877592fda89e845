import type { Engine } from '../engine/engine.ts';
import { openEngine } from '../engine/open-engine.ts';
import { AgentRlError } from '../core/errors.ts';
import type {
  Generation,
  GenerationRequest,
  GenerationTotals,
} from '../core/services/generator.ts';
import type { LossSpec } from '../core/services/learner.ts';
import { DecoderPrograms } from '../generation/decoder-programs.ts';
import { LocalGenerator } from '../generation/local-generator.ts';
import { LocalLearner } from '../learner/local-learner.ts';
import { noRecompute, type ProgramMemory } from '../learner/train-program.ts';
import { countParameters, type ParameterCounts } from '../../model/adapters/adapter.ts';
import {
  describeModel,
  type ModelRequest,
  type NewAdapter,
  openModel,
} from '../../model/weights/open-model.ts';
import type { Quantization } from '../../model/config/architecture.ts';
import {
  checkCacheFits,
  checkPlanFits,
  memoryPlan,
  type MemoryPlan,
  type MemoryRequest,
} from './memory-plan.ts';
import { memorySettings } from './memory-settings.ts';

export interface EngineServiceOptions {
  /** Folder of a model or an adapter. */
  modelFolder: string;
  /** Folders of adapters over it. */
  adapters?: readonly string[];
  /** One more adapter, to be trained. */
  newAdapter?: NewAdapter | undefined;
  /** Quantise float weights while they are read. */
  quantize?: Quantization | undefined;
  recompute?: ProgramMemory['recompute'];
  /** Keys what is random in learning. */
  seed: number;
  device: string;
  threads: number;
  /** Most episodes generated at once. */
  rows: number;
  maxContextTokens: number;
  microBatchTokens: number;
  /** Keep a frozen copy of the weights as reference of KL terms. */
  reference: boolean;
  /** What will be trained on; absent where nothing will be. */
  training?: { longestTokens: number; loss: LossSpec } | undefined;
}

/** What is known of a model once it is open. */
export interface ModelFacts extends ParameterCounts {
  /** Bytes it was expected to hold at most. */
  plan: MemoryPlan;
}

export interface EngineInfo extends ModelFacts {
  device: string;
  cacheBytes: number;
  totals: GenerationTotals;
  /** Of what is trained. */
  weightsSha256: string;
}

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
    private readonly generator: LocalGenerator,
    private readonly facts: ModelFacts,
  ) {}

  static async open(options: EngineServiceOptions): Promise<EngineService> {
    const request: ModelRequest = {
      folder: options.modelFolder,
      adapters: options.adapters ?? [],
      newAdapter: options.newAdapter,
      quantize: options.quantize,
    };
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

  get maxContextTokens(): number {
    return this.generator.maxContextTokens;
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    if (this.learner.published) return this.generator.generate(request, signal);
    throw new AgentRlError(
      'GENERATION_FAILED',
      'The weights changed and were not published. Call publishWeights before sampling.',
    );
  }

  release(episode: string): void {
    this.generator.release(episode);
  }

  info(): EngineInfo {
    return {
      device: this.engine.device,
      ...this.facts,
      cacheBytes: this.generator.cacheBytes,
      totals: this.generator.totals,
      weightsSha256: this.learner.weightsSha256(),
    };
  }

  async close(): Promise<void> {
    await this.learner.close();
    await this.engine.close();
  }
}
