import type { TSchema } from 'typebox';

import type { Generator, Sampling } from '../../services/generator.ts';
import type { Learner } from '../../services/learner.ts';
import type { Scorer } from '../../services/scorer.ts';
import { PluginKind } from '../plugin.ts';
import { fieldRules, optionalField } from '../plugin-rules.ts';

/** An engine of this process with the run's model. It is closed with the run. */
export interface HostEngine {
  readonly generator: Generator;
  readonly learner: Learner;
}

/** What `open` of a generator receives besides the settings. */
export interface GeneratorHost {
  readonly modelFolder: string;
  /** Where the model's tokenizer and chat template are. */
  readonly textFolder: string;
  readonly vocabSize: number;
  /** `run.device` */
  readonly device: string;
  /** Threads of matrix products. */
  readonly threads: number;
  readonly maxContextTokens: number;
  /** Most episodes at once. */
  readonly episodes: number;
  /** How the run will sample. */
  readonly samplings: readonly Sampling[];
  /** Log-probabilities of the run's model as it is in `modelFolder`; it is loaded for each call. */
  readonly scorer: Scorer;
  /** Whether the weights will be changed while it is open. */
  readonly trains: boolean;
  /** Adapters of `model.adapters`, which belong to the run's model. Without a new one the last is trained. */
  readonly adapters: readonly string[];
  /** Whether a new adapter is trained, which the model's folder does not contain. */
  readonly newAdapter: boolean;
  /** Environment variables, for the secrets that settings name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes a sentence to the run's log about something that was repaired or skipped. */
  readonly warn: (text: string) => void;
  /** Aborted when the opening is cancelled. */
  readonly signal: AbortSignal;
  /** The engine that generator and learner share; its spec must say `engine`. */
  engine(): Promise<HostEngine>;
}

/** Opens a generator. It is closed at the end of the run. */
export type OpenGenerator<Settings = unknown> = (
  settings: Settings,
  host: GeneratorHost,
) => Promise<Generator>;

export interface GeneratorSpec {
  readonly name: string;
  readonly description: string;
  /** Schema of `generator` beside its `type`. */
  readonly settings?: TSchema;
  /** It generates with the engine of this process, which then keeps the caches of all episodes. */
  readonly engine?: boolean;
}

export const generators = new PluginKind<GeneratorSpec, OpenGenerator>('generator', {
  methods: [],
  onlyFunction: true,
  fields: {
    engine: optionalField(fieldRules.flag),
  },
});

/**
 * Marks a function that opens a generator.
 *
 * @example export const mine = generator({ name: 'mine', description: '…' })(async (settings, host) => …)
 */
export const generator = (spec: GeneratorSpec) => generators.mark<OpenGenerator<never>>(spec);
