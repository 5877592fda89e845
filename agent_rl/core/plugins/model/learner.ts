import type { TSchema } from 'typebox';

import type { Learner, LossSpec } from '../../services/learner.ts';
import type { LinearModule } from '../../services/linear-module.ts';
import type { HostEngine } from './generator.ts';
import { PluginKind } from '../plugin.ts';
import { fieldRules, optionalField } from '../plugin-rules.ts';

/** A new adapter: `model.lora`. */
export interface AdapterToTrain {
  readonly rank: number;
  readonly alpha: number;
  readonly dropout: number;
  readonly rankStabilised: boolean;
  readonly targets: readonly LinearModule[];
}

/** What `open` of a learner receives besides the settings. */
export interface LearnerHost {
  readonly modelFolder: string;
  /** Absent if the folder's last adapter or the whole model is trained. */
  readonly adapter?: AdapterToTrain;
  /** Whether the frozen weights have adapters or quantisation. */
  readonly changesWeights: boolean;
  /** `train.maxGradNorm`: Infinity for none. */
  readonly maxGradNorm: number;
  /** Seed of all randomness in learning. */
  readonly seed: number;
  readonly loss: LossSpec;
  /** Tokens of the longest sequence there can be. */
  readonly longestTokens: number;
  /** `algorithm.microBatchTokens`: most tokens, padding included, in one pass. */
  readonly microBatchTokens: number;
  /** Whether log-probabilities of the starting weights will be requested. */
  readonly reference: boolean;
  /** Environment variables, for the secrets that settings name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes a sentence to the run's log about something that was repaired or skipped. */
  readonly warn: (text: string) => void;
  /** Aborted when the opening is cancelled. */
  readonly signal: AbortSignal;
  /**
   * An engine of this process: without a device the one that generator and learner share, for which the spec must say
   * `engine`; with one an engine of its own, which only learns.
   */
  engine(device?: string): Promise<HostEngine>;
}

/** Opens a learner. It is closed at the end of the run. */
export type OpenLearner<Settings = unknown> = (
  settings: Settings,
  host: LearnerHost,
) => Promise<Learner>;

export interface LearnerSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of `learner` beside its `type`. */
  readonly settings?: TSchema;
  /** It learns with the engine of this process, which then holds gradients and activations. */
  readonly engine?: boolean;
  /** It learns outside this process: settings of the engine's learner have no effect. */
  readonly elsewhere?: boolean;
}

export const learners = new PluginKind<LearnerSpec, OpenLearner>('learner', {
  methods: [],
  onlyFunction: true,
  fields: { engine: optionalField(fieldRules.flag), elsewhere: optionalField(fieldRules.flag) },
});

/**
 * Marks a function that opens a learner.
 *
 * @example export const mine = learner({ name: 'mine', description: '…' })(async (settings, host) => …)
 */
export const learner = (spec: LearnerSpec) => learners.mark<OpenLearner<never>>(spec);
