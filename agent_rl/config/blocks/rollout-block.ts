import { Type } from 'typebox';

import { block } from './block.ts';

const ResampleBlock = block(
  {
    enabled: Type.Boolean({
      default: false,
      description: 'Draws another task for a group whose rewards are all equal (DAPO 3.2)',
    }),
    cap: Type.Integer({
      minimum: 1,
      default: 2,
      description: 'Most rounds of drawing per step; what is still equal then is kept and counted',
    }),
  },
  'What is done about groups that teach nothing',
);

/** `rollout:` how episodes are collected. */
export const RolloutBlock = block(
  {
    tasksPerStep: Type.Integer({
      minimum: 1,
      default: 8,
      unit: 'tasks',
      description: 'Tasks per collection',
    }),
    groupSize: Type.Integer({
      minimum: 1,
      default: 8,
      unit: 'episodes',
      description: 'Episodes per task; their mean reward is the baseline',
    }),
    workers: Type.Integer({
      minimum: 1,
      default: 32,
      unit: 'episodes',
      description: 'Episodes in flight; 1 runs them one after another',
    }),
    maxTurns: Type.Integer({
      minimum: 1,
      default: 4,
      unit: 'turns',
      description: 'Turns of the policy before the episode ends as truncated-turns',
    }),
    maxEpisodeTokens: Type.Integer({
      minimum: 16,
      default: 768,
      unit: 'tokens',
      description: 'Prompt and all turns together; the episode then ends as truncated-tokens',
    }),
    invalidCallLimit: Type.Integer({
      minimum: 1,
      default: 3,
      unit: 'calls',
      description: 'Unreadable, unknown or invalid calls before the episode ends as invalid-calls',
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
      description: 'Wall-clock limit of one episode; past it, it is aborted and has no reward',
    }),
    resampleZeroVariance: ResampleBlock,
  },
  'How episodes are collected',
);
