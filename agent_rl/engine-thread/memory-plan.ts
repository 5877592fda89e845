import { totalmem } from 'node:os';

import { largest } from '../core/long-lists.ts';
import { AgentRlError } from '../core/errors.ts';
import type { LossSpec } from '../core/services/learner.ts';
import { plannedBytes } from '../engine/onnx/peak-bytes.ts';
import type { Packed } from '../generation/programs/decoder-programs.ts';
import { packedBytes } from '../generation/programs/packed-weights.ts';
import { logitsOfStep } from '../generation/programs/step-sizes.ts';
import { plannedContextBytes } from '../generation/known-contexts.ts';
import { type BatchShape, longestShape, worstShapes } from '../learner/batch-shape.ts';
import type { ProgramMemory } from '../learner/train-batch.ts';
import { dropoutSpecs, rowsAtOnce, scoreBody, trainBody } from '../learner/train-program.ts';
import { trainedAdapter, trainedSpecs } from '../../model/adapters/adapter.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { countNumbers } from '../../model/config/parameters.ts';
import { mebibytes } from '../telemetry/mebibytes.ts';
import { rowsOfThread } from './decoding-threads.ts';
import { bytesOf, bytesPerFloat, weightBytes } from '../../model/adapters/weight-bytes.ts';

/** The memory that an engine needs at once. */
export interface MemoryRequest {
  /** Most episodes generated at once. */
  rows: number;
  /** Threads that draw tokens; 1 by default. Those beside the engine's own draw from copies of the weights. */
  decoders?: number;
  maxContextTokens: number;
  memory: ProgramMemory;
  /** Whether sequences that begin alike share rows; by default they do, where nothing is dropped. */
  prefixTrees?: boolean;
  /** Whether programs that draw hold packed weights. */
  packs?: boolean;
  /** Bytes that other engines of this process are expected to hold. 0 by default. */
  beside?: number;
  /** Absent where it trains, and where it gives no log-probabilities of given tokens. */
  scores?: (Sizes & { topK?: number }) | undefined;
  /** Absent where nothing is trained. */
  training?: (Sizes & { loss: LossSpec; reference: boolean; overlaps?: boolean }) | undefined;
}

/** Tokens of a micro-batch, and of one sequence at most. */
type Sizes = Record<'microBatchTokens' | 'longestTokens', number>;

/** Bytes an engine will hold at its peak. */
export interface MemoryPlan {
  /** Of the model and its adapters; the frozen reference too where it is a copy, what was published last where that is kept, and what decoders share. */
  weights: number;
  /** Gradients and moments of what is trained. */
  optimizer: number;
  /** Keys and values of the episodes in flight, and what of their contexts several of them share. */
  cache: number;
  /** Live at once in the largest program, with what it is fed and what is fetched from it. */
  activations: number;
  /** Node, its libraries and the compiled programs. */
  runtime: number;
  total: number;
}

/** A gradient as fetched and as summed, and two moments. */
const copiesOfTrained = 4;
/** Logits, their softmax and its cumulative sum, and what is fetched of them. */
const copiesOfLogits = 6;
/** Resident size of Node with the libraries loaded, measured; and what freed blocks leave between those in use. */
const runtimeBytes = 400 * 2 ** 20;
const fragmentation = 0.05;
/** A thread with an engine and its programs, measured. */
const decoderBytes = 120 * 2 ** 20;

export interface CacheRequest {
  /** `rollout.workers`: episodes in flight. */
  workers: number;
  /** `policy.maxContextTokens`. */
  maxContextTokens: number;
}

/** Keys and values of all episodes in flight, each at its longest. */
export const cacheBytes = (
  { layers, kvHeads, headDim }: ModelConfig,
  { workers, maxContextTokens }: CacheRequest,
): number => 2 * bytesPerFloat * workers * layers * kvHeads * maxContextTokens * headDim;

/** Adds up what an engine holds, from the very programs it will run: they are recorded and walked through, not run. */
export async function memoryPlan(
  config: ModelConfig,
  request: MemoryRequest,
  has = machineBytes(),
): Promise<MemoryPlan> {
  const { rows, decoders = 1, maxContextTokens, packs = false, scores, training } = request;
  const copied = training?.reference === true && trainedAdapter(config) === undefined;
  // One of each thread beside the engine's, one that is sent, and the old ones while new ones take their place.
  const shared = decoders === 1 ? 0 : (2 * (decoders - 1) + 1) * weightBytes(config);
  const kept = training?.overlaps === true ? bytesOf(trainedSpecs(config)) : 0;
  const weights = weightBytes(config) * (copied ? 2 : 1) + kept + shared;
  const optimizer = training === undefined ? 0 : copiesOfTrained * bytesOf(trainedSpecs(config));
  const workers = decoders * rowsOfThread(rows, decoders);
  const rowBytes = cacheBytes(config, { workers, maxContextTokens });
  const cache = rowBytes + decoders * plannedContextBytes(rowBytes / decoders);
  const drawing = copiesOfLogits * bytesPerFloat * logitsOfStep(rows, config.vocabSize);
  const least = leastActivations(config, request);
  // What is far too large is not recorded: that would take minutes.
  const activations =
    least > has
      ? least
      : Math.max(
          drawing,
          prefillBytes(config, request),
          scores === undefined ? 0 : scoringBytes(config, request, scores),
          training === undefined ? 0 : await trainingBytes(config, request, training),
        );
  const held = packs ? decoders * packedBytes(config) : 0;
  const runtime = runtimeBytes + (decoders - 1) * decoderBytes + held + fragmentation * activations;
  const total = weights + optimizer + cache + activations + runtime;
  return { weights, optimizer, cache, activations, runtime, total };
}

/** One hidden state for each layer and token: no program holds less. */
function leastActivations(
  { hiddenSize, layers }: ModelConfig,
  { maxContextTokens, training }: MemoryRequest,
): number {
  const { sequences, length } =
    training === undefined ? { sequences: 1, length: maxContextTokens } : longestShape(training);
  const kept = training === undefined ? 1 : layers;
  return bytesPerFloat * sequences * length * hiddenSize * kept;
}

/** A prompt as long as a context, as the learner would score it: the same layers, without keeping anything. */
function prefillBytes(config: ModelConfig, { maxContextTokens, memory }: MemoryRequest): number {
  const shape = { sequences: 1, length: maxContextTokens, trained: 2 };
  return plannedBytes(scoreBody(config, { shape, temperature: 1, memory }));
}

/** The largest micro-batch that is scored. */
function scoringBytes(
  config: ModelConfig,
  request: MemoryRequest,
  scores: NonNullable<MemoryRequest['scores']>,
): number {
  const { memory } = request;
  const bytesAt = (shape: BatchShape): number =>
    plannedBytes(scoreBody(config, { shape, temperature: 1, memory, topK: scores.topK }));
  return largest(shapesOf(config, request, scores).map(bytesAt));
}

/** The largest micro-batches of single sequences, and of trees where there may be some. */
function shapesOf(
  config: ModelConfig,
  { memory, prefixTrees }: MemoryRequest,
  { loss, ...sizes }: Sizes & { loss?: LossSpec },
): BatchShape[] {
  const kinds = hasTrees(config, prefixTrees) ? [false, true] : [false];
  // Only a head that is trained keeps more of few predictions than of many.
  const keeps = loss !== undefined && trainedAdapter(config) === undefined;
  const most = keeps ? rowsAtOnce(memory, config, loss) : Infinity;
  return kinds.flatMap((trees) => worstShapes({ ...sizes, trees }, most));
}

/** What dropout drops is keyed by whole sequences. */
const hasTrees = (config: ModelConfig, prefixTrees = true): boolean =>
  prefixTrees && (trainedAdapter(config)?.dropout ?? 0) === 0;

/** Scoring a micro-batch first, for a KL term or a correction, takes less than training on it: nothing is added. */
async function trainingBytes(
  config: ModelConfig,
  request: MemoryRequest,
  training: NonNullable<MemoryRequest['training']>,
): Promise<number> {
  const { memory } = request;
  const { loss } = training;
  const all: number[] = [];
  for (const shape of shapesOf(config, request, training)) {
    const program = await trainBody(config, { shape, loss, memory });
    const dropped = bytesPerFloat * countNumbers(dropoutSpecs(config, shape));
    all.push(plannedBytes(program) + dropped);
  }
  return largest(all);
}

/** Memory this process may use: the machine's, or less where a limit is set. */
export const machineBytes = (): number => {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
};

/**
 * Refuses a cache that the model cannot have or this machine cannot hold, before anything is allocated.
 *
 * @throws AgentRlError `CONFIG_INVALID` when the context is longer than the model's positions, or the cache larger
 * than all memory of the machine.
 */
export function checkCacheFits(
  model: ModelConfig,
  request: CacheRequest,
  has = machineBytes(),
): void {
  const { workers, maxContextTokens } = request;
  if (maxContextTokens > model.maxPositions) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `policy.maxContextTokens is ${maxContextTokens}, but the model has only ${model.maxPositions} positions. Use at most ${model.maxPositions}.`,
    );
  }
  const bytes = cacheBytes(model, request);
  if (bytes > has) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The key-value cache for ${workers} episodes (rollout.workers) of ${maxContextTokens} tokens (policy.maxContextTokens) takes ${mebibytes(bytes)}, but this machine has ${mebibytes(has)}. Lower rollout.workers or policy.maxContextTokens.`,
    );
  }
}

/**
 * Refuses a plan that the machine cannot hold, before any weight is read.
 *
 * @throws AgentRlError `CONFIG_INVALID`, saying what takes how much and what to change.
 */
export function checkPlanFits(
  plan: MemoryPlan,
  config: ModelConfig,
  { memory, beside = 0, prefixTrees, scores, training }: MemoryRequest,
  has = machineBytes(),
): void {
  if (beside + plan.total <= has) return;
  const adapter = trainedAdapter(config);
  const trains = training !== undefined;
  const isSupervised = training?.loss.name === 'cross_entropy';
  const shorter = isSupervised
    ? ', or remove the longest demonstrations'
    : ' or rollout.maxEpisodeTokens';
  const apart = hasTrees(config, prefixTrees) ? ', or set train.prefixTrees: off' : '';
  const batch = `lower algorithm.microBatchTokens${shorter}${apart} (activations)`;
  const blocks = 'set train.recompute: blocks (activations)';
  const lora = 'train an adapter instead of the whole model (model.lora; gradients and optimiser)';
  const rank = 'lower model.lora.rank (gradients and optimiser)';
  const fourBits = 'keep the weights in four bits and train an adapter (model.quantize: 4bit)';
  const ways: [boolean, number, string][] = [
    [!isSupervised, plan.cache, 'lower rollout.workers or policy.maxContextTokens (cache)'],
    [trains || scores !== undefined, plan.activations, batch],
    [trains && memory.recompute === 'none', plan.activations, blocks],
    [trains && adapter === undefined, plan.optimizer, lora],
    [trains && adapter !== undefined, plan.optimizer, rank],
    [config.quantization === undefined && beside === 0, plan.weights, fourBits],
  ];
  // What takes most comes first.
  const advice = ways
    .filter(([helps]) => helps)
    .toSorted(([, one], [, other]) => other - one)
    .map(([, , way]) => way);
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${beside === 0 ? 'This run' : 'This model'} would need about ${mebibytes(plan.total)}${beside === 0 ? '' : ` on top of the ${mebibytes(beside)} of the run's other models`}, but this machine has ${mebibytes(has)}: ${planInWords(plan)}. ` +
      `Ways to save memory, largest first: ${advice.join('; ')}.`,
  );
}

/** The sum of the plans of several engines. */
export function sumOfPlans(plans: readonly MemoryPlan[]): MemoryPlan {
  const whole = { weights: 0, optimizer: 0, cache: 0, activations: 0, runtime: 0, total: 0 };
  for (const plan of plans)
    for (const name of Object.keys(whole) as (keyof MemoryPlan)[]) whole[name] += plan[name];
  return whole;
}

/** The parts of a plan. */
export const planInWords = (plan: MemoryPlan): string => {
  const { weights, optimizer, cache, activations, runtime } = plan;
  const trained = optimizer > 0 ? { 'gradients and optimiser': optimizer } : {};
  return Object.entries({ weights, ...trained, cache, activations, runtime })
    .map(([name, bytes]) => `${name} ${mebibytes(bytes)}`)
    .join(', ');
};

/**
 * What the program that draws holds of the weights, which ONNX Runtime then packs once and not for each product: those under an adapter,
 * and all where that is asked for; on the processor, if the copy takes no more than a quarter of the memory. Nothing else decides it. It makes
 * floating-point differences, and so depends neither on how many threads draw nor on how many episodes there are.
 */
export function packsWeights(
  config: ModelConfig,
  { packs = false, device }: { packs?: boolean; device: string },
  has = machineBytes(),
): Packed | undefined {
  const canPack =
    device === 'cpu' && config.quantization === undefined && 4 * packedBytes(config) <= has;
  if (!canPack) return undefined;
  if (packs) return 'all';
  return trainedAdapter(config) === undefined ? undefined : 'under the adapter';
}
