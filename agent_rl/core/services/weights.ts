/**
 * How weights get from a learner to a generator: in shared memory, as files in a folder, or within a common service.
 */
export type WeightKind = 'memory' | 'folder' | 'service';

/** Weights that a learner has published. */
export interface WeightRef {
  /** Optimiser steps behind them. */
  readonly version: number;
  readonly kind: WeightKind;
  /**
   * Of `memory`, the engine that holds them; of `folder`, its path: weights and config.json, or the files of an adapter. It is
   * removed when a later version is in use. Of `service`, their address at the service that learns and samples.
   */
  readonly location: string;
}

/** The weights that draw the episodes of an iteration. */
export interface DrawnBy {
  /** Optimiser steps behind them. */
  readonly step: number;
  /** Absent where they are the learner's own. */
  readonly weights?: WeightRef | undefined;
}

/** Where a learner is to put its weights. */
export type WeightTarget =
  { readonly kind: 'memory' | 'service' } | { readonly kind: 'folder'; readonly folder: string };

/** Publishes the weights of one learner to the generators. */
export interface WeightPublisher {
  /** Of how many of the newest weights every generator samples at the same time; 1 by default. */
  readonly versionsAtOnce?: number | undefined;
  /** When it returns, every generator draws from the learner's current weights. */
  publish(signal?: AbortSignal): Promise<WeightRef>;
  /** Lets every generator draw from weights that were published before and kept. */
  use(weights: WeightRef, signal?: AbortSignal): Promise<void>;
}
