import type { TSchema } from 'typebox';

import { builtInSource, PluginKind } from '../plugins/plugin.ts';
import { fieldRules, optionalField } from '../plugins/plugin-rules.ts';
import type { LossOps, LossTensor } from './loss-ops.ts';

/** The trained tokens of one pass, [N] each. Padding is 0 everywhere and has no weight. */
export interface LossBatch {
  /** Under the policy being trained, nats. The gradient flows through it and everything computed from it. */
  readonly logProbs: LossTensor;
  /**
   * `logProbs` minus the log-probabilities under the sampling policy or, with a correction, under the weights before
   * the update.
   */
  readonly logRatio: LossTensor;
  /** `exp(logRatio)`, at most e^20 and at least e^-20. */
  readonly ratio: LossTensor;
  /** The same for all tokens of a part; with a correction, times the token's factor. */
  readonly advantages: LossTensor;
  /**
   * For each token, the mean over the trained tokens of its sequence; the gradient flows through it. Only for a loss
   * whose spec declares `perSequence`.
   *
   * @throws Error otherwise
   */
  readonly sequenceMean: (values: LossTensor) => LossTensor;
}

/** The loss of each token. */
export interface TokenLosses {
  /** [N]. Weighted by `algorithm.aggregation` and summed; KL and entropy terms are added separately. */
  readonly losses: LossTensor;
  /** [N] each, by name: logged as `sent/NAME`, the mean with the weights of the loss. */
  readonly metrics?: Readonly<Record<string, LossTensor>>;
}

/** A policy-gradient loss of each token, computed with `ops` only: it imports no engine. */
export type LossFunction<Settings = unknown> = (
  batch: LossBatch,
  settings: Settings,
  ops: LossOps,
) => TokenLosses;

export interface LossPluginSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of `algorithm.loss` beside its `type`. */
  readonly settings?: TSchema;
  /**
   * `import.meta.url` of the file that exports the function: the engine's thread imports it there. Built-in losses
   * need none.
   */
  readonly module?: string;
  /** It bounds how far a step moves a token's probability, so that it can learn from tokens of older weights. */
  readonly clips?: boolean;
  /** It uses `sequenceMean`. */
  readonly perSequence?: boolean;
}

export const losses = new PluginKind<LossPluginSpec, LossFunction>('loss', {
  methods: [],
  onlyFunction: true,
  fields: {
    module: optionalField(fieldRules.fileUrl),
    clips: optionalField(fieldRules.flag),
    perSequence: optionalField(fieldRules.flag),
  },
  problemsInRun: ({ name, module }, { source }) =>
    source === builtInSource || module !== undefined
      ? []
      : [
          `the spec of the loss "${name}" from ${source} has no module, so the engine's thread cannot import it. Add module: import.meta.url.`,
        ],
});

/**
 * Marks a loss.
 *
 * @example
 * export const reinforce = loss({ name: 'my-reinforce', description: '…', module: import.meta.url })(
 *   ({ logProbs, advantages }, _settings, { mul, neg }) => ({ losses: neg(mul(advantages, logProbs)) }),
 * );
 */
export const loss = (spec: LossPluginSpec) => losses.mark<LossFunction<never>>(spec);
