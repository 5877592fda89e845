import type { Metrics } from '#agent_rl/telemetry/index.ts';

/** Metrics of one group, such as `rollout`, by their names in it. */
export const metricsUnder = (group: string, values: Readonly<Record<string, number>>): Metrics =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${group}/${name}`, value]));
