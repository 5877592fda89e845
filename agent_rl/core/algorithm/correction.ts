import type { TSchema } from 'typebox';

import { PluginKind } from '../plugins/plugin.ts';

/** The trained tokens of one sequence, in order: log-probabilities, nats. */
export interface CorrectionTokens {
  /** Under the policy that sampled them, as its generator computed it. */
  readonly behaviour: Float32Array;
  /** Under the weights that the update begins with, as the learner computes it. */
  readonly proximal: Float32Array;
}

/** A factor of at least 0 for each token, by which its advantage is multiplied. */
export type CorrectionFunction<Settings = unknown> = (
  tokens: CorrectionTokens,
  settings: Settings,
) => ArrayLike<number>;

export interface CorrectionSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of `algorithm.correction` beside its `type`. */
  readonly settings?: TSchema;
}

export const corrections = new PluginKind<CorrectionSpec, CorrectionFunction>('correction', {
  methods: [],
  onlyFunction: true,
});

/** Marks an off-policy correction between sampling and learning. */
export const correction = (spec: CorrectionSpec) =>
  corrections.mark<CorrectionFunction<never>>(spec);
