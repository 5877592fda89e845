import type { MetricName } from '../../telemetry/index.ts';

/** One way in which a policy degenerates, and how it shows. */
export interface CollapseSign {
  about: string;
  /** What is seen and what to try; `undefined` where it is not seen or was not measured. */
  look: (watched: Watched) => string | undefined;
}

/** What a sign of collapse is looked for in. */
export interface Watched {
  /** Mean of a metric over the first iterations seen; `undefined` where one of them lacks it. */
  first: (name: MetricName) => number | undefined;
  /** The same over the newest ones. */
  now: (name: MetricName) => number | undefined;
  /** Whether the run has tools. */
  tools: boolean;
}
