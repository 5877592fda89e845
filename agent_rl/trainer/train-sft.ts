import { sum } from '../algorithms/statistics.ts';
import { AgentRlError } from '../core/errors.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import type { Learner } from '../core/services/learner.ts';
import { maskOf, type TranscriptRecord } from '../core/transcript.ts';
import { measured, type Metrics } from '../telemetry/metric-names.ts';
import { type Evaluation, evaluationMetrics } from './evaluate.ts';
import { optimOptionsAt, plannedIterations } from './optim-options.ts';
import type { TrainOptions } from './training-options.ts';
import { computedPerToken, quotient } from './iteration-report.ts';
import { takeStep } from './steps/optimizer-step.ts';
import { checkpoint, keepingState, type Standing } from './standing.ts';
import type { TrainingOutput } from './trainer-contracts.ts';

export interface SftOptions {
  seed: number;
  /** Sequences per optimiser step. */
  batchSize: number;
  train: Omit<TrainOptions, 'parityBound'>;
  /** Steps between evaluations, one after the last step among them; 0, the default, makes none. */
  evaluateEvery?: number;
  /** Steps between checkpoints; 0, the default, writes only the last. */
  checkpointEvery?: number;
}

/** Where supervised training stands. */
export interface SftState {
  /** Optimiser steps done; the order of examples follows from it and the seed. */
  iteration: number;
  /** Of the last step; absent before the first. */
  loss?: number;
  /** The newest evaluation: after which step, and its success, `null` where no attempt was judged. */
  evaluated?: { iteration: number; success: number | null };
}

/** What supervised training trains with. */
export interface SftRun extends TrainingOutput<SftState> {
  options: SftOptions;
  /** Where it continues, with the same examples and options; absent at the start. */
  from?: SftState | undefined;
  learner: Learner;
  /** Conversations as tokens; tokens of source `demonstration` are trained. */
  examples: readonly TranscriptRecord[];
  /** Evaluates the current weights; `undefined` if interrupted. */
  evaluate?: ((iteration: number) => Promise<Evaluation | undefined>) | undefined;
}

interface SftStanding extends Standing<SftState, SftRun> {
  /** Caches the order of the last passes: a large set is not shuffled again at each step. */
  readonly orders: Map<number, readonly TranscriptRecord[]>;
}

/**
 * Supervised training on assistants' turns: again and again one optimiser step on `batchSize` shuffled conversations. It
 * trains until the last step, until an evaluation reaches `train.until.success`, or until `signal` is aborted, which
 * finishes the step under way; a checkpoint follows.
 *
 * @throws AgentRlError `DATASET_INVALID` when there is no example, or one has nothing to train.
 */
export async function trainSft(
  run: SftRun,
  signal: AbortSignal,
): Promise<{ interrupted: boolean; state: SftState }> {
  requireTrained(run.examples);
  const { from, options } = run;
  const { checkpointEvery = 0 } = options;
  const at: SftStanding = {
    run,
    signal,
    state: from ?? { iteration: 0 },
    checkpointed: from?.iteration,
    midway: false,
    orders: new Map(),
  };
  return keepingState(at, async () => {
    // The previous session may have been interrupted in it; saved at once, so that it is not repeated.
    if ((await evaluateIfDue(at)) !== undefined && !hasEnded(at)) await checkpoint(at, 'periodic');
    while (!hasEnded(at) && !signal.aborted) {
      const metrics = await step(at);
      const iteration = at.state.iteration + 1;
      at.state = { ...at.state, iteration, loss: metrics['train/loss'] ?? Number.NaN };
      let evaluation: Evaluation | undefined;
      try {
        evaluation = await evaluateIfDue(at);
      } finally {
        // The step is complete without it.
        const all = { ...metrics, ...(evaluation && evaluationMetrics(evaluation)) };
        run.emit({ type: 'iteration', iteration, metrics: measured(all), learned: [] });
      }
      const due = checkpointEvery > 0 && iteration % checkpointEvery === 0;
      if (due && !hasEnded(at)) await checkpoint(at, 'periodic');
    }
    await checkpoint(at, hasEnded(at) ? 'last' : 'interrupted');
    return { interrupted: signal.aborted, state: at.state };
  });
}

function requireTrained(examples: readonly TranscriptRecord[]): void {
  const empty = examples.findIndex((example) => !maskOf(example, 'demonstration').includes(1));
  if (examples.length > 0 && empty === -1) return;
  const problem =
    examples.length === 0
      ? 'There are no conversations to learn from.'
      : `Conversation ${empty} of ${examples.length} (counted from 0) has no assistant tokens to learn from.`;
  throw new AgentRlError('DATASET_INVALID', `${problem} Add an assistant message.`);
}

/** Whether the last step is done, or the target success rate is reached. */
function hasEnded({ run, state: { iteration, evaluated } }: SftStanding): boolean {
  const { iterations, until } = run.options.train;
  const success = evaluated?.success ?? 0;
  return iteration >= iterations || (until !== undefined && success >= until.success);
}

async function evaluateIfDue(at: SftStanding): Promise<Evaluation | undefined> {
  const { run } = at;
  const { evaluateEvery: every = 0, train } = run.options;
  const { iteration, evaluated } = at.state;
  const due = every > 0 && (iteration % every === 0 || iteration === plannedIterations(train));
  if (!due || iteration === 0 || evaluated?.iteration === iteration) return undefined;
  const evaluation = await run.evaluate?.(iteration);
  if (evaluation === undefined) return undefined;
  at.state = { ...at.state, evaluated: { iteration, success: evaluation.successRate } };
  const metrics = measured(evaluationMetrics(evaluation));
  run.emit({ type: 'evaluation', when: 'during', iteration, metrics, evaluation });
  return evaluation;
}

async function step(at: SftStanding): Promise<Metrics> {
  const { learner, options } = at.run;
  const { train } = options;
  const started = performance.now();
  const data = toData(examplesOf(at), train.contextWeight ?? 0);
  const optim = optimOptionsAt(at.state.iteration, plannedIterations(train), train);
  const loss = { name: 'cross_entropy' } as const;
  const stepped = await takeStep(learner, data, { loss, optim });
  const seconds = (performance.now() - started) / 1000;
  const tokens = sum(data.map(({ datum }) => datum.tokens.length));
  const trained = data.map(({ datum }) => datum.weights.filter((weight) => weight !== 0).length);
  return {
    'train/loss': stepped.loss,
    'train/gradNorm': stepped.gradNorm,
    'train/parameterNorm': stepped.parameterNorm,
    'train/learningRate': optim.learningRate,
    'train/optimizerSteps': at.state.iteration + 1,
    'train/microBatches': stepped.microBatches,
    'train/computedPerToken': computedPerToken([stepped]),
    'train/trainedTokens': sum(trained),
    'seconds/update': seconds,
    'speed/trainTokensPerSecond': quotient(tokens, seconds),
  };
}

/** The examples of this step: the next ones in a pass over all examples, shuffled in each pass. */
function examplesOf({ run, state, orders }: SftStanding): TranscriptRecord[] {
  const { examples, options } = run;
  const { batchSize, seed } = options;
  const first = state.iteration * batchSize;
  for (const pass of orders.keys())
    if (pass < Math.floor(first / examples.length)) orders.delete(pass);
  return Array.from({ length: batchSize }, (_, offset) => {
    const pass = Math.floor((first + offset) / examples.length);
    const order = orders.get(pass) ?? new KeyedRng(seed, 'sft', pass).shuffle(examples);
    orders.set(pass, order);
    return order[(first + offset) % examples.length];
  }).filter((example) => example !== undefined);
}

/** Weights that sum to 1 over the step: one weight for all assistant tokens, and one for all others. */
function toData(
  examples: readonly TranscriptRecord[],
  contextWeight: number,
): { datum: TrainDatum }[] {
  const weights = examples.map((example) => {
    const weightsOf = Float32Array.from(
      maskOf(example, 'demonstration'),
      (mask) => mask || contextWeight,
    );
    // The first token has no context to predict it from.
    weightsOf[0] = 0;
    return weightsOf;
  });
  const total = sum(weights.map((one) => one.reduce((a, b) => a + b, 0)));
  return examples.map(({ tokens }, index) => {
    const zeros = new Float32Array(tokens.length);
    const datum = {
      tokens: Int32Array.from(tokens),
      weights: weights[index]?.map((weight) => weight / total) ?? zeros,
      advantages: zeros,
      oldLogProbs: zeros,
    };
    return { datum };
  });
}
