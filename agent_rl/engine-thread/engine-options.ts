import type { GenerationTotals } from '../core/services/generator.ts';
import type { LossSpec } from '../core/services/learner.ts';
import type { ModuleHooks } from '../threads/thread.ts';
import type { ProgramMemory } from '../learner/train-batch.ts';
import type { ParameterCounts } from '../../model/adapters/adapter.ts';
import type { Quantization } from '../../model/config/architecture.ts';
import type { NewAdapter } from '../../model/weights/open-model.ts';
import type { MemoryPlan } from './memory-plan.ts';

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
  /** Whether sequences that begin alike are trained on together; by default they are. */
  prefixTrees?: boolean;
  /** Keys what is random in learning. */
  seed: number;
  device: string;
  threads: number;
  /** Most episodes generated at once. */
  rows: number;
  /** Threads that draw tokens, each for its share of the episodes; 1 by default, the engine's own. */
  decoders?: number;
  maxContextTokens: number;
  microBatchTokens: number;
  /** Registered in the thread before it imports a loss of a plugin's. */
  hooks?: readonly ModuleHooks[];
  /** Learn while the threads beside this one draw, which alone do so then, and keep a copy of what was published last. */
  overlaps?: boolean | undefined;
  /** Keep a frozen copy of the weights as reference of KL terms. */
  reference: boolean;
  /** What it only computes log-probabilities of; absent where it trains, which takes more, and where it only samples. */
  scores?: { longestTokens: number; topK?: number };
  /** Bytes that other engines of this process are expected to hold. 0 by default. */
  beside?: number;
  /** Whether its weights will change, here or elsewhere, by default; else programs may hold them. */
  trains?: boolean;
  /** Whether all weights may be packed: for what is neither trained nor compared with what was. */
  packs?: boolean;
  /** What will be trained on here; absent where nothing will be. */
  training?: { longestTokens: number; loss: LossSpec } | undefined;
}

/** The settings of a run that lower what its engine holds at once: supervised training collects no episodes. */
export function memorySettings({ training }: Pick<EngineServiceOptions, 'training'>): string {
  const ofEpisodes = 'rollout.workers and policy.maxContextTokens';
  if (training === undefined) return ofEpisodes;
  const isSupervised = training.loss.name === 'cross_entropy';
  return `algorithm.microBatchTokens${isSupervised ? '' : ` first, then ${ofEpisodes}`}`;
}

/** Facts about an open model. */
export interface ModelFacts extends ParameterCounts {
  /** Bytes it was expected to hold at most. */
  plan: MemoryPlan;
}

export interface EngineInfo extends ModelFacts {
  device: string;
  /** Threads that draw tokens. */
  decoders: number;
  cacheBytes: number;
  /** Whether the program that draws holds all weights, packed. */
  packs: boolean;
  totals: GenerationTotals;
}
