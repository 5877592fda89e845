import type { Metrics } from '../../../telemetry/index.ts';

type NumberOf = (metrics: Metrics) => number | undefined;

export interface Quantity {
  name: string;
  of: NumberOf;
}

/** Curves on the same axes: what they are of, before any run. */
export interface CurvePlan {
  /** What it is called on the command line. */
  name: string;
  title: string;
  unit: string;
  share?: boolean;
  /** Those that are known before, or those of a run by the names of what it measured. */
  quantities: readonly Quantity[] | ((measured: readonly string[]) => readonly Quantity[]);
  /** Of supervised runs, or of reinforcement learning; of both otherwise. */
  mode?: 'sft' | 'rl';
}

const ratio =
  (part: NumberOf, whole: NumberOf): NumberOf =>
  (metrics) => {
    const [above, below] = [part(metrics), whole(metrics)];
    return above === undefined || below === undefined || below === 0 ? undefined : above / below;
  };

const ofGroups = (name: 'zeroVariance' | 'allRight' | 'allWrong'): NumberOf =>
  ratio(
    (metrics) => metrics[`group/${name}`],
    (metrics) => metrics['group/count'],
  );

/** One for each reward where the environment's is not the only one. */
function rewardsOf(measured: readonly string[]): Quantity[] {
  const scores = measured.filter((name): name is `score/${string}` => name.startsWith('score/'));
  if (scores.every((name) => name.endsWith('/environment'))) return [];
  return scores.map((name) => ({
    name: name.slice('score/'.length),
    of: (metrics) => metrics[name],
  }));
}

/** The name that held-out tasks have among curves of success. */
export const heldOut = 'held-out tasks, 95 % interval';

/** What is drawn of runs, where they measured it. */
export const curvePlans: readonly CurvePlan[] = [
  {
    name: 'success',
    title: 'Success',
    unit: 'share of episodes',
    share: true,
    quantities: [{ name: 'training episodes', of: (metrics) => metrics['rollout/successRate'] }],
  },
  {
    name: 'reward',
    title: 'Reward',
    unit: 'mean of an episode',
    quantities: [{ name: 'training episodes', of: (metrics) => metrics['rollout/rewardMean'] }],
  },
  {
    name: 'rewards',
    title: 'Rewards',
    unit: 'mean of an episode, before any weight',
    quantities: rewardsOf,
  },
  {
    name: 'loss',
    title: 'Loss',
    unit: 'nats a token',
    mode: 'sft',
    quantities: [{ name: 'loss', of: (metrics) => metrics['train/loss'] }],
  },
  {
    name: 'accuracy',
    title: 'Likeliest token is right',
    unit: 'share of trained tokens',
    share: true,
    quantities: [{ name: 'accuracy', of: (metrics) => metrics['train/accuracy'] }],
  },
  {
    name: 'entropy',
    title: 'Entropy',
    unit: 'nats a token',
    quantities: [{ name: 'estimate', of: (metrics) => metrics['rollout/entropyEstimate'] }],
  },
  {
    name: 'calls',
    title: 'Tool calls',
    unit: 'calls an episode',
    quantities: [
      { name: 'all', of: (metrics) => metrics['rollout/callsMean'] },
      {
        name: 'answered with an error',
        of: ratio(
          (metrics) => metrics['rollout/failedCalls'],
          (metrics) => metrics['rollout/episodes'],
        ),
      },
    ],
  },
  {
    name: 'length',
    title: 'Length',
    unit: 'sampled tokens an episode',
    quantities: [
      { name: 'mean', of: (metrics) => metrics['rollout/lengthMean'] },
      { name: 'longest', of: (metrics) => metrics['rollout/lengthMax'] },
    ],
  },
  {
    name: 'groups',
    title: 'Groups',
    unit: 'share of groups',
    share: true,
    quantities: [
      { name: 'rewards all equal', of: ofGroups('zeroVariance') },
      { name: 'all right', of: ofGroups('allRight') },
      { name: 'all wrong', of: ofGroups('allWrong') },
    ],
  },
  {
    name: 'kl',
    title: 'KL from the starting weights',
    unit: 'nats a token',
    quantities: [{ name: 'estimate', of: (metrics) => metrics['sent/kl'] }],
  },
  {
    name: 'gradient',
    title: 'Gradient',
    unit: 'norm before clipping',
    quantities: [{ name: 'norm', of: (metrics) => metrics['train/gradNorm'] }],
  },
  {
    name: 'time',
    title: 'Time',
    unit: 'seconds an iteration',
    quantities: [
      { name: 'all', of: (metrics) => metrics['seconds/total'] },
      { name: 'episodes', of: (metrics) => metrics['seconds/collect'] },
      { name: 'update', of: (metrics) => metrics['seconds/update'] },
    ],
  },
];
