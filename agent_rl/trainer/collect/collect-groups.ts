import { type GroupAdvantages, groupAdvantages } from '../../algorithms/group-advantages.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { planGroups, type Rollouts } from '../../rollout/rollout-worker.ts';
import { groupRewards, type GroupRewards } from './group-rewards.ts';
import { requireRewards } from './require-rewards.ts';
import type { AlgorithmOptions, GrpoOptions, TrainOptions } from '../training-options.ts';

/** The episodes of one task and how they compare. */
export interface Group extends GroupAdvantages {
  task: Task;
  trajectories: readonly Trajectory[];
  /** What a scheme that looks at the whole group multiplied each reward by. */
  weights?: GroupRewards['weights'];
}

export interface Collection {
  /** `tasksPerStep` groups, to be learned from. */
  groups: readonly Group[];
  /** Groups whose place another task took because their rewards were all equal. */
  discarded: readonly Group[];
}

/** All episodes of a collection, those to be learned from first. */
export const trajectoriesOf = ({ groups, discarded }: Collection): Trajectory[] =>
  [...groups, ...discarded].flatMap(({ trajectories }) => trajectories);

export interface CollectGroupsOptions extends Pick<
  GrpoOptions,
  'seed' | 'rollout' | 'combination'
> {
  algorithm: Pick<AlgorithmOptions, 'advantageStd' | 'advantageEps'>;
  control?: TrainOptions['control'];
  rollouts: Rollouts;
  draw: (count: number) => readonly Task[];
  /** Counts from 0. It keys all randomness: after an iteration that taught nothing, other episodes are played. */
  iteration: number;
  /** Optimiser steps taken: the version of the weights. */
  step: number;
  signal: AbortSignal;
  onEpisode?: (trajectory: Trajectory) => void;
}

/**
 * Plays a group of episodes of each of `tasksPerStep` tasks. With resampling on, other tasks take the place of
 * groups that teach nothing, for at most `cap` rounds (dynamic sampling: DAPO, Yu et al. 2025, section 3.2).
 *
 * @throws AgentRlError `ROLLOUTS_FAILED` when no episode has a reward.
 */
export async function collectGroups(options: CollectGroupsOptions): Promise<Collection> {
  const { rollout, draw, signal } = options;
  const { enabled, cap } = rollout.resampleZeroVariance;
  const rounds = enabled ? cap : 0;
  let groups = await playGroups(draw(rollout.tasksPerStep), 0, options);
  const discarded: Group[] = [];
  for (let round = 1; round <= rounds && !signal.aborted; round++) {
    const flat = groups.filter(({ zeroVariance }) => zeroVariance);
    if (flat.length === 0) break;
    const drawn = (await playGroups(draw(flat.length), round, options)).values();
    discarded.push(...flat);
    groups = groups.map((group) => (group.zeroVariance ? (drawn.next().value ?? group) : group));
  }
  if (!signal.aborted) requireRewards(trajectoriesOf({ groups, discarded }));
  return { groups, discarded };
}

async function playGroups(
  tasks: readonly Task[],
  round: number,
  options: CollectGroupsOptions,
): Promise<Group[]> {
  const { rollouts, rollout, algorithm, combination, control, seed, iteration, step } = options;
  const { signal, onEpisode } = options;
  const plan = planGroups(tasks, {
    groupSize: rollout.groupSize,
    sampling: rollout.sampling,
    step,
    seedPath: [seed, 'rollout', iteration, round],
  });
  const played = await rollouts.collect(plan.flat(), { signal, ...(onEpisode && { onEpisode }) });
  const judged =
    control === 'shuffled-rewards'
      ? shuffleRewards(played, new KeyedRng(seed, control, iteration, round))
      : played;
  return tasks.map((task, index) => {
    const [start, end] = [index * rollout.groupSize, (index + 1) * rollout.groupSize];
    const { advantageStd: std, advantageEps: eps } = algorithm;
    const { rewards, weights } = groupRewards(judged.slice(start, end), combination);
    return {
      task,
      trajectories: played.slice(start, end),
      ...(weights && { weights }),
      ...groupAdvantages(rewards, { std, eps }),
    };
  });
}

/**
 * The same verdicts, shuffled among the episodes that have a reward. What an episode did and what it is given
 * are then independent, so a run trained on them shows what else than the rewards moves the success rate.
 */
export function shuffleRewards<Scored extends { reward: number | undefined }>(
  episodes: readonly Scored[],
  random: KeyedRng,
): Scored[] {
  const shuffled = random.shuffle(episodes.filter(({ reward }) => reward !== undefined)).values();
  return episodes.map((own) => (own.reward === undefined ? own : (shuffled.next().value ?? own)));
}
