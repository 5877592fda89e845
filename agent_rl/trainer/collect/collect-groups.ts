import { type GroupAdvantages, groupAdvantages } from '../../algorithms/group-advantages.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { EpisodeRequest } from '../../rollout/episode-parts.ts';
import { planGroups, type Rollouts } from '../../rollout/rollout-worker.ts';
import { groupRewards, type GroupRewards } from './group-rewards.ts';
import { type FailureCount, FailureGuard } from './failure-guard.ts';
import { actionOn } from './outcome-actions.ts';
import { replaceFailed } from './replace-failed.ts';
import { type Control, verdictsUnder } from './shuffle-rewards.ts';
import type { TaskSource } from '../../../dataset/tasks/task-sampler.ts';
import type { AlgorithmOptions, GrpoOptions } from '../training-options.ts';
import { append } from '../../core/long-lists.ts';

/** The episodes of one task and how they compare. */
export interface Group extends GroupAdvantages {
  task: Task;
  trajectories: readonly Trajectory[];
  /** Members that have the penalty in place of their reward. */
  penalised?: number;
  /** Episodes that failed and whose places others took. */
  replaced?: readonly Trajectory[];
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
  [...groups, ...discarded].flatMap(({ trajectories, replaced = [] }) =>
    trajectories.concat(replaced),
  );

export interface CollectGroupsOptions extends Pick<
  GrpoOptions,
  'seed' | 'rollout' | 'combination'
> {
  algorithm: Pick<AlgorithmOptions, 'advantageStd' | 'advantageEps'>;
  control?: Control;
  rollouts: Rollouts;
  tasks: Pick<TaskSource, 'draw' | 'drawAgain'>;
  /** Failures of the iterations before this one. */
  failuresBefore?: readonly FailureCount[];
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
 * @throws AgentRlError `ROLLOUTS_FAILED` when no episode has a reward, or too many failed.
 */
export async function collectGroups(options: CollectGroupsOptions): Promise<Collection> {
  const { rollout, tasks, signal, iteration, onEpisode, failuresBefore } = options;
  const { enabled, cap } = rollout.resampleZeroVariance;
  const rounds = enabled ? cap : 0;
  const guard = new FailureGuard(rollout.failures);
  const guarded = {
    ...options,
    onEpisode: (trajectory: Trajectory) => {
      onEpisode?.(trajectory);
      guard.note(trajectory);
    },
  };
  let groups = await playGroups(tasks.draw(rollout.tasksPerStep), 0, guarded);
  const discarded: Group[] = [];
  for (let round = 1; round <= rounds && !signal.aborted; round++) {
    const flat = groups.filter(({ zeroVariance }) => zeroVariance);
    if (flat.length === 0) break;
    const again = tasks.drawAgain(flat.length, [iteration, round]);
    const drawn = (await playGroups(again, round, guarded)).values();
    append(discarded, flat);
    groups = groups.map((group) => (group.zeroVariance ? (drawn.next().value ?? group) : group));
  }
  if (!signal.aborted) guard.check(trajectoriesOf({ groups, discarded }), failuresBefore);
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
    place: { iteration: iteration + 1, round },
  });
  const requests = plan.flat();
  const play = (some: readonly EpisodeRequest[]) =>
    rollouts.collect(some, { signal, ...(onEpisode && { onEpisode }) });
  const first = await play(requests);
  const { episodes: played, replaced } = await replaceFailed({
    requests,
    played: first,
    rollout,
    play,
  });
  const { groupSize } = rollout;
  const random = new KeyedRng(seed, control ?? 'none', iteration, round);
  const judged = verdictsUnder({ control, groupSize, random }, played);
  return tasks.map((task, index) => {
    const [start, end] = [index * rollout.groupSize, (index + 1) * rollout.groupSize];
    const { advantageStd: std, advantageEps: eps } = algorithm;
    const members = judged.slice(start, end);
    const { rewards: given, weights } = groupRewards(members, combination);
    const { outcomes, failures } = rollout;
    const isPenalised = members.map(({ outcome }) => actionOn(outcome, outcomes) === 'penalise');
    const rewards = isPenalised.map((yes, member) => (yes ? failures.penalty : given[member]));
    const failed = replaced[index] ?? [];
    return {
      task,
      trajectories: played.slice(start, end),
      penalised: isPenalised.filter(Boolean).length,
      ...(failed.length > 0 && { replaced: failed }),
      ...(weights && { weights }),
      ...groupAdvantages(rewards, { std, eps }),
    };
  });
}
