import { Type } from 'typebox';

import { block } from './block.ts';

const ResampleBlock = block(
  {
    enabled: Type.Boolean({
      default: false,
      description:
        'Draw another task for each group whose rewards are all equal (dynamic sampling, DAPO 3.2)',
    }),
    cap: Type.Integer({
      minimum: 1,
      default: 2,
      description:
        'Most rounds of drawing in an iteration; groups that are still equal are kept and counted',
    }),
  },
  'What to do about groups that teach nothing',
);

/** `rollout:` how episodes are collected. */
export const RolloutBlock = block(
  {
    tasksPerStep: Type.Integer({
      minimum: 1,
      default: 8,
      unit: 'tasks',
      description: 'Tasks in each iteration',
    }),
    groupSize: Type.Integer({
      minimum: 1,
      default: 8,
      unit: 'episodes',
      description: 'Episodes for each task, its group; their mean reward is the baseline',
    }),
    workers: Type.Integer({
      minimum: 1,
      default: 32,
      unit: 'episodes',
      description: 'Episodes in flight; 1 collects them one after another',
    }),
    maxTurns: Type.Integer({
      minimum: 1,
      default: 4,
      unit: 'turns',
      description: 'Turns after which an episode ends as truncated-turns',
    }),
    maxEpisodeTokens: Type.Integer({
      minimum: 16,
      default: 768,
      unit: 'tokens',
      description:
        'Tokens, prompt and all turns together, after which an episode ends as truncated-tokens',
    }),
    invalidCallLimit: Type.Integer({
      minimum: 1,
      default: 3,
      unit: 'calls',
      description:
        'Unreadable, unknown or invalid calls after which an episode ends as invalid-calls',
    }),
    invalidCallPenalty: Type.Number({
      minimum: 0,
      default: 0,
      unit: 'reward',
      description: 'Subtracted from the reward for each such call',
    }),
    episodeTimeoutS: Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      default: 120,
      unit: 's',
      description:
        'Wall-clock limit of an episode; after it the episode is aborted and has no reward',
    }),
    resampleZeroVariance: ResampleBlock,
  },
  'How episodes are collected',
);
