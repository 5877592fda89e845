import { PCA } from 'ml-pca';

import { hasNoSpread, mean as meanOf, standardDeviation, sum } from './statistics.ts';
import type { RewardTerm } from '../core/plugins/reward-manager.ts';
import { largest, smallest } from '../core/long-lists.ts';

/** How several rewards of an episode become one within its group. Weights count for `normalised` alone. */
export type GroupScheme = 'uniform' | 'std' | 'pca' | 'l2' | 'normalised';

/** Rewards of one episode by name. One that is not there does not apply to the episode. */
export type Scores = Readonly<Record<string, number>>;

export interface CombinedGroup {
  /** One per member, in order; `undefined` where the scores were. */
  rewards: readonly (number | undefined)[];
  /** What each reward was multiplied by, of those that any member has; for `l2` all are 1. */
  weights: Scores;
}

/** A reward in a group, one value per member that has scores. */
interface Column {
  term: RewardTerm;
  /** As scored; the mean where the reward does not apply. */
  raw: readonly number[];
  /** On a scale of mean 0 and standard deviation 1; all 0 for a constant. */
  z: readonly number[];
  /** Population standard deviation where it applies; exactly 0 for a constant. */
  std: number;
}

interface Combined {
  rewards: readonly number[];
  weights: readonly number[];
}

/** What is left of a sum this small, relative to what was added, is rounding. */
const rounding = 1e-12;

/**
 * Makes one reward of several for each member of a group of n episodes. With r_ki reward k of episode i, sigma_k its
 * population standard deviation in the group and z_ki = (r_ki - mean_k) / sigma_k, 0 for a constant reward:
 *
 * - `uniform`: R_i = sum_k r_ki / K
 * - `std`: R_i = sum_k w_k r_ki with w_k = sigma_k / sum_j sigma_j; uniform when every reward is constant
 * - `pca`: R_i = sum_k v_k z_ki with v the first principal direction of z, see `principalDirection`
 * - `l2`: R_i = sign(S_i) sqrt|S_i| with S_i = sum_k sign(r_ki) r_ki^2: the Euclidean norm, except that what is
 *   negative counts against the episode
 * - `normalised`: R_i = sum_k w_k z_ki, each reward brought to one scale before they are added (as the first step of
 *   GDPO, Liu et al. 2026, https://arxiv.org/abs/2601.05242)
 *
 * A member without scores (the system failed) is left out, and so is a reward that applies to no member. Where a reward
 * applies to some members, the others get the mean of those, which counts neither for nor against them.
 */
export function combineGroupRewards(
  members: readonly (Scores | undefined)[],
  terms: readonly RewardTerm[],
  scheme: GroupScheme,
): CombinedGroup {
  const present = members.filter((scores) => scores !== undefined);
  const columns = terms.flatMap((term) => columnOf(term, present) ?? []);
  const { rewards, weights } = schemes[scheme](columns, present.length);
  const combined = rewards.values();
  return {
    rewards: members.map((scores) => (scores === undefined ? undefined : combined.next().value)),
    weights: Object.fromEntries(columns.map(({ term }, k) => [term.name, weights[k] ?? 0])),
  };
}

function columnOf(term: RewardTerm, present: readonly Scores[]): Column | undefined {
  const given = present.flatMap((scores) => scores[term.name] ?? []);
  if (given.length === 0) return undefined;
  const mean = meanOf(given);
  const std = hasNoSpread(given) ? 0 : standardDeviation(given);
  const raw = present.map((scores) => scores[term.name] ?? mean);
  const z = raw.map((value) => (std === 0 ? 0 : (value - mean) / std));
  return { term, raw, z, std };
}

const rawOf = ({ raw }: Column): readonly number[] => raw;
const zOf = ({ z }: Column): readonly number[] => z;

const schemes: Readonly<
  Record<GroupScheme, (columns: readonly Column[], members: number) => Combined>
> = {
  uniform: (columns, members) => {
    const weights = columns.map(() => 1 / columns.length);
    return weightedSum(columns.map(rawOf), weights, members);
  },

  std: (columns, members) => {
    const total = sum(columns.map(({ std }) => std));
    if (total === 0) return schemes.uniform(columns, members);
    const weights = columns.map(({ std }) => std / total);
    return weightedSum(columns.map(rawOf), weights, members);
  },

  pca: (columns, members) => {
    const moving = columns.filter(({ std }) => std > 0);
    const stds = moving.map(({ std }) => std);
    const direction = principalDirection(moving.map(zOf), stds).values();
    const weights = columns.map(({ std }) => (std > 0 ? (direction.next().value ?? 0) : 0));
    return weightedSum(columns.map(zOf), weights, members);
  },

  l2: (columns, members) => ({
    rewards: Array.from({ length: members }, (_, i) =>
      signedNorm(columns.map(({ raw }) => raw[i] ?? 0)),
    ),
    weights: columns.map(() => 1),
  }),

  normalised: (columns, members) => {
    const weights = columns.map(({ term }) => term.weight);
    return weightedSum(columns.map(zOf), weights, members);
  },
};

/** Sums by member. Where all that is left of them differs by rounding alone, they are made exactly equal. */
function weightedSum(
  columns: readonly (readonly number[])[],
  weights: readonly number[],
  members: number,
): Combined {
  const parts = Array.from({ length: members }, (_, i) =>
    columns.map((values, k) => (weights[k] ?? 0) * (values[i] ?? 0)),
  );
  const rewards = parts.map(sum);
  const size = largest(parts.flat().map(Math.abs), 0);
  const spread = largest(rewards) - smallest(rewards);
  const [first = 0] = rewards;
  return { rewards: spread <= rounding * size ? rewards.map(() => first) : rewards, weights };
}

function signedNorm(values: readonly number[]): number {
  const signed = sum(values.map((value) => Math.sign(value) * value ** 2));
  const size = sum(values.map((value) => value ** 2));
  return Math.abs(signed) <= rounding * size ? 0 : Math.sign(signed) * Math.sqrt(Math.abs(signed));
}

/** Eigenvalues this close, relative to the largest, are one, and then no direction of their space is the first. */
const sameEigenvalue = 1e-6;

/** A direction this short, before it is brought to length 1, points nowhere. */
const noDirection = 1e-6;

/**
 * First principal direction of rewards on one scale, [K][n]: K numbers, whose squares sum to 1.
 *
 * A principal direction has no sign of its own, and solvers differ: left alone, better episodes would come out worse
 * every other time. It is turned so that the sum of its numbers is positive, that is, so that episodes with more
 * reward in all come out ahead. Where several directions explain the same variance, the one nearest to equal numbers
 * is taken; where its sum is 0 (two opposed rewards), the one that agrees with the sum of the rewards on their own
 * scales, whose standard deviations are `stds`; and where that decides nothing either, all numbers are 0: none of the
 * episodes is better.
 */
function principalDirection(
  rewards: readonly (readonly number[])[],
  stds: readonly number[],
): readonly number[] {
  if (rewards.length === 0) return [];
  const members = rewards[0]?.length ?? 0;
  const rows = Array.from({ length: members }, (_, i) => rewards.map((values) => values[i] ?? 0));
  const analysis = new PCA(rows, { method: 'covarianceMatrix', center: true, scale: false });
  const values = analysis.getEigenvalues();
  const [most = 0] = values;
  // In columns; the space of the largest eigenvalue is spanned by its first ones.
  const vectors = analysis.getEigenvectors().transpose().to2DArray();
  const space = vectors.filter((_, k) => most - (values[k] ?? 0) <= sameEigenvalue * most);
  const equal = stds.map(() => 1);
  return nearestIn(space, equal) ?? nearestIn(space, stds) ?? stds.map(() => 0);
}

/** The direction in a space, given by orthonormal vectors, nearest to a target; `undefined` when they are orthogonal. */
function nearestIn(
  space: readonly (readonly number[])[],
  target: readonly number[],
): readonly number[] | undefined {
  const nearest = target.map((_, k) =>
    space.reduce((total, vector) => total + dot(vector, target) * (vector[k] ?? 0), 0),
  );
  const length = Math.hypot(...nearest);
  if (length <= noDirection * Math.hypot(...target)) return undefined;
  return nearest.map((value) => value / length);
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((total, value, place) => total + value * (b[place] ?? 0), 0);
