import { sum } from '../algorithms/statistics.ts';
import { AgentRlError } from '../core/errors.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import type { Learner } from '../core/services/learner.ts';
import { maskOf, type TranscriptRecord } from '../core/transcript.ts';
import type { Metrics } from '../telemetry/metric-names.ts';
import { type Evaluation, evaluationMetrics } from './evaluate.ts';
import { measured } from './named-numbers.ts';
import { optimOptionsAt, plannedIterations } from './optim-options.ts';
import type { TrainOptions } from './training-options.ts';
import { runEpoch } from './steps/run-epoch.ts';
import type { CheckpointReason } from './trainer-contracts.ts';

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

export interface SftObserver {
  onIteration?(iteration: number, metrics: Metrics): void;
  onEvaluation?(iteration: number, evaluation: Evaluation): void;
  onCheckpoint?(
    reason: Extract<CheckpointReason, 'periodic' | 'interrupted' | 'last'>,
    state: SftState,
  ): Promise<void>;
}

export interface SftParts {
  learner: Learner;
  /** Conversations as tokens; those of source `demonstration` are trained. */
  examples: readonly TranscriptRecord[];
  /** Attempts tasks with the present weights; `undefined` when it was interrupted. */
  evaluate?: ((iteration: number) => Promise<Evaluation | undefined>) | undefined;
  observer?: SftObserver;
}

/** Supervised training on assistants' turns: again and again one optimiser step on `batchSize` shuffled conversations. */
export class SFTTrainer {
  #state: SftState = { iteration: 0 };
  /** Of the passes that the last step took from: a large set is not shuffled again at each step. */
  readonly #orders = new Map<number, readonly TranscriptRecord[]>();

  /** @throws AgentRlError `DATASET_INVALID` when there is no example, or one has nothing to train. */
  constructor(
    private readonly parts: SftParts,
    private readonly options: SftOptions,
  ) {
    const empty = parts.examples.findIndex(
      (example) => !maskOf(example, 'demonstration').includes(1),
    );
    if (parts.examples.length > 0 && empty === -1) return;
    const problem =
      parts.examples.length === 0
        ? 'There are no conversations to learn from.'
        : `Conversation ${empty} of ${parts.examples.length} (from 0) has no assistant tokens to learn from.`;
    throw new AgentRlError('DATASET_INVALID', `${problem} Give each an assistant message.`);
  }

  state(): SftState {
    return this.#state;
  }

  /** Continues from where another trainer of the same examples and options stood. */
  restore(state: SftState): void {
    this.#state = state;
  }

  /**
   * Trains until the last step, until an evaluation reaches `train.until.success`, or until `signal` is aborted, which
   * finishes the step under way; a checkpoint follows.
   */
  async train(signal: AbortSignal): Promise<{ interrupted: boolean }> {
    const { checkpointEvery = 0 } = this.options;
    const { observer } = this.parts;
    // The session before may have been interrupted in it; kept at once, so that it is not made again.
    if ((await this.#evaluateIfDue()) !== undefined && !this.#ended())
      await observer?.onCheckpoint?.('periodic', this.#state);
    while (!this.#ended() && !signal.aborted) {
      const metrics = await this.#step();
      const iteration = this.#state.iteration + 1;
      this.#state = { ...this.#state, iteration, loss: metrics['train/loss'] ?? Number.NaN };
      let evaluation: Evaluation | undefined;
      try {
        evaluation = await this.#evaluateIfDue();
      } finally {
        // The step is whole without it.
        const evaluated = evaluation && evaluationMetrics(evaluation);
        observer?.onIteration?.(iteration, { ...metrics, ...evaluated });
      }
      const due = checkpointEvery > 0 && iteration % checkpointEvery === 0;
      if (due && !this.#ended()) await observer?.onCheckpoint?.('periodic', this.#state);
    }
    await observer?.onCheckpoint?.(this.#ended() ? 'last' : 'interrupted', this.#state);
    return { interrupted: signal.aborted };
  }

  /** Whether the last step is taken, or the measured success is reached. */
  #ended(): boolean {
    const { iterations, until } = this.options.train;
    const { iteration, evaluated } = this.#state;
    const success = evaluated?.success ?? 0;
    return iteration >= iterations || (until !== undefined && success >= until.success);
  }

  async #evaluateIfDue(): Promise<Evaluation | undefined> {
    const { evaluateEvery: every = 0, train } = this.options;
    const { iteration, evaluated } = this.#state;
    const due = every > 0 && (iteration % every === 0 || iteration === plannedIterations(train));
    if (!due || iteration === 0 || evaluated?.iteration === iteration) return undefined;
    const evaluation = await this.parts.evaluate?.(iteration);
    if (evaluation === undefined) return undefined;
    const { successRate: success } = evaluation;
    this.#state = { ...this.#state, evaluated: { iteration, success } };
    this.parts.observer?.onEvaluation?.(iteration, evaluation);
    return evaluation;
  }

  async #step(): Promise<Metrics> {
    const { learner } = this.parts;
    const { train } = this.options;
    const started = performance.now();
    const data = toData(this.#examples(), train.contextWeight ?? 0);
    const optim = optimOptionsAt(this.#state.iteration, plannedIterations(train), train);
    const loss = { name: 'cross_entropy' } as const;
    const epoch = await runEpoch(learner, data, { loss, optim });
    const seconds = (performance.now() - started) / 1000;
    const tokens = sum(data.map(({ datum }) => datum.tokens.length));
    const trained = data.map(({ datum }) => datum.weights.filter((weight) => weight !== 0).length);
    return measured({
      'train/loss': epoch.loss,
      'train/gradNorm': epoch.gradNorm,
      'train/parameterNorm': epoch.parameterNorm,
      'train/learningRate': optim.learningRate,
      'train/optimizerSteps': this.#state.iteration + 1,
      'train/microBatches': epoch.microBatches,
      'train/computedPerToken': epoch.computedTokens && epoch.computedTokens / tokens,
      'train/trainedTokens': sum(trained),
      'seconds/update': seconds,
      'speed/trainTokensPerSecond': seconds > 0 ? tokens / seconds : undefined,
    });
  }

  /** The examples of this step: place by place through passes over all of them, each in an order of its own. */
  #examples(): TranscriptRecord[] {
    const { examples } = this.parts;
    const { batchSize, seed } = this.options;
    const first = this.#state.iteration * batchSize;
    const orders = this.#orders;
    for (const pass of orders.keys())
      if (pass < Math.floor(first / examples.length)) orders.delete(pass);
    return Array.from({ length: batchSize }, (_, offset) => {
      const pass = Math.floor((first + offset) / examples.length);
      const order = orders.get(pass) ?? new KeyedRng(seed, 'sft', pass).shuffle(examples);
      orders.set(pass, order);
      return order[(first + offset) % examples.length];
    }).filter((example) => example !== undefined);
  }
}

/** Weights that sum to 1 over the step: those of the assistant's tokens are all alike, and so are the others'. */
function toData(
  examples: readonly TranscriptRecord[],
  contextWeight: number,
): { datum: TrainDatum }[] {
  const weights = examples.map((example) => {
    const weightsOf = Float32Array.from(
      maskOf(example, 'demonstration'),
      (mask) => mask || contextWeight,
    );
    // Nothing comes before the first token that could predict it.
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
