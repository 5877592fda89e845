import type { TSchema } from 'typebox';

import { builtInSource, PluginKind } from '../plugins/plugin.ts';
import { fieldRules, optionalField } from '../plugins/plugin-rules.ts';
import type { LossOps, LossTensor } from './loss-ops.ts';

/** The trained tokens of one pass, [N] each. Padding has 0 everywhere and weighs nothing. */
export interface LossBatch {
  /** Under the policy being trained, nats. The gradient flows through it, and through what is made of it. */
  readonly logProbs: LossTensor;
  /** `logProbs` less those under the policy that sampled, or, with a correction, under the weights the update began with. */
  readonly logRatio: LossTensor;
  /** `exp(logRatio)`, at most e^20 and at least e^-20. */
  readonly ratio: LossTensor;
  /** One for all tokens of a part; with a correction, times its factor for the token. */
  readonly advantages: LossTensor;
  /**
   * For each token, the mean over the trained tokens of its sequence; the gradient flows through it. Only for a loss
   * whose spec says `perSequence`.
   *
   * @throws Error otherwise
   */
  readonly sequenceMean: (values: LossTensor) => LossTensor;
}

/** What a loss is at each token. */
export interface TokenLosses {
  /** [N]. Weighed by `algorithm.aggregation` and added up; KL and entropy terms are added beside it. */
  readonly losses: LossTensor;
  /** [N] each, by name: logged as `sent/NAME`, the mean weighed as the loss is. */
  readonly metrics?: Readonly<Record<string, LossTensor>>;
}

/** A policy-gradient loss at each token, made with `ops` alone: it imports no engine. */
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
  /** It asks for `sequenceMean`. */
  readonly perSequence?: boolean;
}

export const losses = new PluginKind<LossPluginSpec, LossFunction>('loss', {
  methods: [],
  onlyFunction: true,
  fields: {
    module: optionalField(fieldRules.fileUrl),
    perSequence: optionalField(fieldRules.flag),
  },
  problemsInRun: ({ name, module }, { source }) =>
    source === builtInSource || module !== undefined
      ? []
      : [
          `the spec of the loss "${name}" from ${source} has no module, and the engine's thread cannot find it. Add module: import.meta.url.`,
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
