import type { MetricName } from '../../telemetry/index.ts';
import type { Series } from '../query/series.ts';

/** Fewer iterations than this show no trend. */
export const leastIterations = 10;

/** A share of episodes in the first and the last quarter of the iterations. */
export interface Trend {
  early: number;
  late: number;
  /** Whether it fell, or rose, by more than chance and a twentieth of the episodes' or a third of itself. */
  fell: boolean;
  rose: boolean;
}

/** Episodes of a group resemble each other: this many count as one. */
const alike = 2;
/** Standard errors: one run in a hundred differs by as much from chance. */
const beyondChance = 2.5;

/** How a share of episodes changed; `undefined` where it was not measured, or of too few iterations. */
export function trendOf(series: Series, name: MetricName): Trend | undefined {
  const [early, late] = [series.early(name), series.late(name)];
  if (early === undefined || late === undefined) return undefined;
  if (series.values(name).length < leastIterations) return undefined;
  const episodes =
    (series.early('rollout/scored') ?? 0) * Math.floor(series.values(name).length / 4);
  const share = (early + late) / 2;
  const error = Math.sqrt((share * (1 - share) * 2 * alike) / Math.max(1, episodes));
  const beyond = Math.abs(late - early) > beyondChance * error;
  return {
    early,
    late,
    fell: beyond && (late < early - 0.05 || late < (2 / 3) * early),
    rose: beyond && (late > early + 0.05 || late > 1.5 * early),
  };
}
