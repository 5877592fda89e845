import type { Engine } from '../engine/engine.ts';
import { openEngine } from '../engine/open-engine.ts';
import { AgentRlError } from '../core/errors.ts';
import type { Generation, GenerationRequest } from '../core/generator.ts';
import type { Learner } from '../core/learner.ts';
import { DecoderPrograms } from '../generation/decoder-programs.ts';
import { LocalGenerator, type GenerationTotals } from '../generation/local-generator.ts';
import { LocalLearner } from '../learner/local-learner.ts';
import { loadModel } from '../../model/load-model.ts';
import { parameterCount, type Weights } from '../../model/parameters.ts';
import { weightsSha256 } from '../../model/weights-sha256.ts';
import { checkCacheFits } from './check-cache-fits.ts';

export interface EngineServiceOptions {
  /** A Hugging Face model folder. */
  readonly modelFolder: string;
  readonly device: string;
  readonly threads: number;
  /** Most episodes generated at once. */
  readonly rows: number;
  readonly maxContextTokens: number;
  readonly microBatchTokens: number;
  /** Keep a frozen copy of the weights as reference of KL terms. */
  readonly reference: boolean;
}

export interface EngineInfo {
  readonly device: string;
  readonly parameters: number;
  readonly cacheBytes: number;
  readonly totals: GenerationTotals;
  readonly weightsSha256: string;
}

/**
 * What lives in the engine thread: one engine, one copy of the weights, the learner and the generator on them.
 *
 * The weights are shared and updated in place, so after an optimiser step nothing is generated until they were
 * published: no turn can be drawn from weights that carry no version.
 */
export class EngineService {
  readonly learner: Learner;
  #published = true;

  private constructor(
    private readonly engine: Engine,
    private readonly local: LocalLearner,
    private readonly generator: LocalGenerator,
    private readonly model: {
      readonly parameterCount: number;
      readonly weights: Weights;
    },
  ) {
    this.learner = {
      forward: (tokens, options) => local.forward(tokens, options),
      forwardBackward: (data, loss) => local.forwardBackward(data, loss),
      optimStep: (options) => {
        this.#published = false;
        return local.optimStep(options);
      },
      saveState: (folder) => local.saveState(folder),
      loadState: (folder) => {
        this.#published = false;
        return local.loadState(folder);
      },
      publishWeights: async () => {
        const version = await local.publishWeights();
        this.#published = true;
        return version;
      },
    };
  }

  static async open(options: EngineServiceOptions): Promise<EngineService> {
    const { config, parameters } = await loadModel(options.modelFolder);
    checkCacheFits(config, { workers: options.rows, maxContextTokens: options.maxContextTokens });
    const engine = await openEngine({ device: options.device, threads: options.threads });
    const programs = new DecoderPrograms(engine, config, options.maxContextTokens, true);
    const generator = new LocalGenerator(programs, options);
    await generator.setWeights(parameters, 0);
    const learner = new LocalLearner(engine, config, parameters, {
      microBatchTokens: options.microBatchTokens,
      publish: (weights, version) => generator.setWeights(weights, version),
    });
    if (options.reference) learner.freezeReference();
    const model = { parameterCount: parameterCount(config), weights: parameters };
    return new EngineService(engine, learner, generator, model);
  }

  get maxContextTokens(): number {
    return this.generator.maxContextTokens;
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    if (this.#published) return this.generator.generate(request, signal);
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
      parameters: this.model.parameterCount,
      cacheBytes: this.generator.cacheBytes,
      totals: this.generator.totals,
      weightsSha256: weightsSha256(this.model.weights),
    };
  }

  async close(): Promise<void> {
    await this.local.close();
    await this.engine.close();
  }
}
