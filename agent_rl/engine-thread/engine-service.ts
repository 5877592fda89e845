import { threadId } from 'node:worker_threads';

import type { Engine } from '../engine/engine.ts';
import { openEngine } from '../engine/open-engine.ts';
import { AgentRlError } from '../core/errors.ts';
import type { Generation, GenerationRequest, GeneratorInfo } from '../core/services/generator.ts';
import type { LearnerInfo } from '../core/services/learner.ts';
import type { WeightRef } from '../core/services/weights.ts';
import { DecoderPrograms, type Packed } from '../generation/programs/decoder-programs.ts';
import { LocalGenerator } from '../generation/local-generator.ts';
import { readTrained } from '../learner/learner-state.ts';
import { LocalLearner } from '../learner/local-learner.ts';
import { noRecompute } from '../learner/train-program.ts';
import { countParameters } from '../../model/adapters/adapter.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import type { Weights } from '../../model/config/parameters.ts';
import { describeModel, type ModelRequest, openModel } from '../../model/weights/open-model.ts';
import {
  checkCacheFits,
  checkPlanFits,
  memoryPlan,
  type MemoryRequest,
  packsWeights,
} from './memory-plan.ts';
import { decodingThreads, rowsOfThread } from './decoding-threads.ts';
import {
  memorySettings,
  type EngineInfo,
  type EngineServiceOptions,
  type ModelFacts,
} from './engine-options.ts';
import { type SharedWeights, shareWeights } from './shared-weights.ts';

interface EngineParts {
  engine: Engine;
  config: ModelConfig;
  parameters: Weights;
  learner: LocalLearner;
  generator: LocalGenerator;
  /** What the learner published last; `of` it is absent before. */
  published: { of?: SharedWeights };
  packs: Packed | undefined;
  facts: ModelFacts;
}

/** Two engines of one process have different ones. */
const engineName = `engine ${threadId}`;

/**
 * What lives in the engine thread: one engine, one copy of the weights, the learner and the generator.
 *
 * The generator draws from the weights that are trained. Nothing is sampled after they changed until they were published: no
 * turn can be drawn from weights that carry no version.
 */
export class EngineService {
  /** Changes of the weights when the generator took them; absent where it draws from weights of another process. */
  #taken: number | undefined = 0;
  /** What the generator draws from. */
  #drawn: SharedWeights;

  private constructor(private readonly parts: EngineParts) {
    this.#drawn = { weights: parts.parameters, version: 0 };
  }

  static async open(options: EngineServiceOptions): Promise<EngineService> {
    const request: ModelRequest = { ...options, folder: options.modelFolder };
    const described = await describeModel(request);
    const { device, threads, rows, maxContextTokens, microBatchTokens, reference } = options;
    const { training, scores, beside = 0, prefixTrees = true, trains, decoders = 1 } = options;
    const { overlaps = false } = options;
    checkCacheFits(described.config, { workers: rows, maxContextTokens });
    const memory = { ...noRecompute, recompute: options.recompute ?? 'none' };
    const packs = packsWeights(described.config, options);
    const needs: MemoryRequest = {
      rows,
      decoders,
      maxContextTokens,
      memory,
      beside,
      prefixTrees,
      packs: packs !== undefined,
      scores: scores && { ...scores, microBatchTokens },
      training: training && { ...training, microBatchTokens, reference, overlaps },
    };
    const plan = await memoryPlan(described.config, needs);
    // On another device it is that device's memory that counts, which is not known here.
    if (device === 'cpu') checkPlanFits(plan, described.config, needs);
    const { config, parameters, layers } = await openModel(request);
    const engine = await openEngine({ device, threads, memorySettings: memorySettings(options) });
    const programs = new DecoderPrograms(engine, config, maxContextTokens, {
      threads: decodingThreads(config),
      trains,
      packs,
    });
    const generator = new LocalGenerator(programs, {
      rows: overlaps ? 1 : rowsOfThread(rows, decoders),
      maxContextTokens,
    });
    await generator.setWeights(parameters, 0);
    // The last adapter is trained where no new one is.
    const under = options.newAdapter === undefined ? layers.adapters.slice(0, -1) : layers.adapters;
    const published: EngineParts['published'] = {};
    const learner = new LocalLearner(engine, config, parameters, {
      trains,
      microBatchTokens,
      memory,
      prefixTrees,
      keepsPublished: overlaps,
      adapter: { seed: options.seed, baseModel: layers.base, under },
      publish: (weights, version) => {
        published.of = { weights, version };
        return { version, kind: 'memory', location: engineName };
      },
    });
    if (reference) learner.freezeReference();
    const facts = { ...countParameters(config), plan };
    const parts = { engine, config, parameters, learner, generator, published, packs, facts };
    return new EngineService(parts);
  }

  get learner(): LocalLearner {
    return this.parts.learner;
  }

  get generator(): LocalGenerator {
    return this.parts.generator;
  }

  async describeLearner(): Promise<LearnerInfo> {
    return { ...(await this.learner.describe()), engine: engineName };
  }

  async describeGenerator(): Promise<GeneratorInfo> {
    const { engine, packs } = this.parts;
    const { device } = engine;
    return {
      maxContextTokens: this.generator.maxContextTokens,
      // Elsewhere a sum has no fixed order, and a draw may fall to the other side of a last bit.
      reproducible: device === 'cpu',
      name: `engine on ${device}${packs ? ', weights packed' : ''}`,
      takes: ['memory', 'folder'],
      engine: engineName,
    };
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    if (this.#taken === undefined || this.#taken === this.learner.changes)
      return this.generator.generate(request, signal);
    throw new AgentRlError(
      'GENERATION_FAILED',
      'The weights have changed since they were last published. Publish them before sampling.',
    );
  }

  /** @throws AgentRlError `GENERATION_FAILED` while tokens are drawn, and for a version that is not held */
  async use({ kind, version, location }: WeightRef): Promise<void> {
    const { config, parameters, published } = this.parts;
    if (kind === 'memory') {
      if (published.of?.version !== version)
        throw new AgentRlError(
          'GENERATION_FAILED',
          `This engine does not have version ${version} of the weights. Its latest version is ${published.of?.version ?? 'not published yet'}.`,
        );
      await this.#draw(published.of);
      this.#taken = this.learner.changes;
      return;
    }
    const read = await readTrained(location, config);
    await this.#draw({ weights: new Map([...parameters, ...read]), version });
    this.#taken = undefined;
  }

  async #draw(drawn: SharedWeights): Promise<void> {
    await this.generator.setWeights(drawn.weights, drawn.version);
    this.#drawn = drawn;
  }

  /** What threads beside this one need to draw as its generator does. */
  share(): SharedWeights & { config: ModelConfig; packs: Packed | undefined } {
    const { weights, version } = this.#drawn;
    const { config, packs } = this.parts;
    return { weights: shareWeights(weights), version, config, packs };
  }

  info(): EngineInfo {
    return {
      device: this.parts.engine.device,
      decoders: 1,
      packs: this.parts.packs === 'all',
      ...this.parts.facts,
      cacheBytes: this.generator.cacheBytes,
      totals: this.generator.totals,
    };
  }

  async close(): Promise<void> {
    await this.learner.close();
    await this.parts.engine.close();
  }
}
