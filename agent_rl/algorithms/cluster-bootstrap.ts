import type { KeyedRng } from '../core/keyed-rng.ts';
import { hasNoSpread, sum, wilson95 } from './statistics.ts';

/** Correlated attempts, such as attempts at one task or at the tasks of one family; at least one. */
export interface Cluster {
  n: number;
  /** A fraction where a trial is a task and its value a share of its attempts. */
  successes: number;
}

/** The same cluster in two evaluations. */
export interface ClusterPair {
  before: Cluster;
  after: Cluster;
}

/** A 95 % interval. Plain JSON. */
export interface ClusterInterval {
  low: number;
  high: number;
  /** How many it was resampled from. Below some 24 it is too narrow: Flynn and Peters 2004, https://doi.org/10.1186/1472-6963-4-33 */
  clusters: number;
  /** `wilson` where the clusters do not differ and a bootstrap would have no width. */
  method: 'cluster-bootstrap' | 'wilson';
}

/** With 1,999 resamples, the percentiles fall on samples; no interpolation. */
const resamples = 1999;
const lowest = 0.025 * (resamples + 1) - 1;

/** Successes by attempts of all clusters together. */
const pooledRate = (clusters: readonly Cluster[]): number =>
  sum(clusters.map(({ successes }) => successes)) / sum(clusters.map(({ n }) => n));

/** The same over the clusters at some places, which may come up several times. */
function rateOfDrawn(clusters: readonly Cluster[]): (drawn: Int32Array) => number {
  const attempts = Float64Array.from(clusters, ({ n }) => n);
  const right = Float64Array.from(clusters, ({ successes }) => successes);
  return (drawn) => {
    let n = 0;
    let successes = 0;
    for (const place of drawn) {
      n += attempts[place] ?? 0;
      successes += right[place] ?? 0;
    }
    return successes / n;
  };
}

/**
 * 95 % interval of a success rate by the cluster bootstrap: whole clusters are drawn with replacement, as many as
 * there are, and the rate of each resample is that of its attempts together; the interval lies between the 2.5 % and
 * 97.5 % points of 1,999 such rates. With one attempt in each cluster this is the plain bootstrap.
 *
 * - the cluster bootstrap: Field and Welsh 2007, https://doi.org/10.1111/j.1467-9868.2007.00593.x
 * - the percentile interval: Davison and Hinkley 1997, section 5.3, https://doi.org/10.1017/CBO9780511802843
 * - in evaluations of models: Miller 2024, https://arxiv.org/abs/2411.00640
 *
 * Departure: where no two clusters differ, as when nothing or everything succeeds, resamples do not differ either. The
 * interval is then Wilson's with a cluster as one trial, since attempts of one cluster may be all alike.
 *
 * @returns `undefined` without clusters.
 */
export function rateInterval95(
  clusters: readonly Cluster[],
  random: KeyedRng,
): ClusterInterval | undefined {
  if (clusters.length === 0) return undefined;
  const [low, high] = percentiles(clusters.length, random, rateOfDrawn(clusters));
  if (!hasNoSpread([low, high]))
    return { low, high, clusters: clusters.length, method: 'cluster-bootstrap' };
  const [from, to] = wilsonOfClusters(clusters);
  return { low: from, high: to, clusters: clusters.length, method: 'wilson' };
}

/**
 * 95 % interval of the rate after less the rate before, by the cluster bootstrap over pairs: both evaluations of a
 * cluster are drawn together, so that what makes a task hard in both does not widen the interval. See
 * `rateInterval95`; on pairs, Miller 2024, https://arxiv.org/abs/2411.00640
 *
 * Departure: where no resamples differ, it is made of both Wilson intervals, Newcombe 1998, method 10,
 * https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, with a cluster as one trial.
 *
 * @returns `undefined` without pairs.
 */
export function differenceInterval95(
  pairs: readonly ClusterPair[],
  random: KeyedRng,
): ClusterInterval | undefined {
  if (pairs.length === 0) return undefined;
  const [before, after] = [pairs.map((pair) => pair.before), pairs.map((pair) => pair.after)];
  const [rateBefore, rateAfter] = [rateOfDrawn(before), rateOfDrawn(after)];
  const difference = (drawn: Int32Array): number => rateAfter(drawn) - rateBefore(drawn);
  const [low, high] = percentiles(pairs.length, random, difference);
  if (!hasNoSpread([low, high]))
    return { low, high, clusters: pairs.length, method: 'cluster-bootstrap' };
  const [was, is] = [pooledRate(before), pooledRate(after)];
  const [lowBefore, highBefore] = wilsonOfClusters(before);
  const [lowAfter, highAfter] = wilsonOfClusters(after);
  return {
    low: is - was - Math.hypot(is - lowAfter, highBefore - was),
    high: is - was + Math.hypot(highAfter - is, was - lowBefore),
    clusters: pairs.length,
    method: 'wilson',
  };
}

const wilsonOfClusters = (clusters: readonly Cluster[]): [low: number, high: number] =>
  wilson95(pooledRate(clusters) * clusters.length, clusters.length);

/** The 2.5 % and 97.5 % points of a statistic over resamples of `size` places out of as many. */
function percentiles(
  size: number,
  random: KeyedRng,
  statistic: (drawn: Int32Array) => number,
): [low: number, high: number] {
  const values = Float64Array.from({ length: resamples }, () =>
    statistic(random.integers(size, size)),
  ).toSorted();
  return [values[lowest] ?? Number.NaN, values[resamples - 1 - lowest] ?? Number.NaN];
}
