import { block, flag, integer, number } from './block.ts';

const ResampleBlock = block(
  {
    enabled: flag(
      'Draw another task for each group whose rewards are all equal (dynamic sampling, DAPO 3.2)',
      false,
    ),
    cap: integer(
      'Most rounds of drawing in an iteration; groups that are still equal are kept and counted',
      { minimum: 1, default: 2 },
    ),
  },
  'What to do about groups that teach nothing',
);

export const RolloutBlock = block(
  {
    tasksPerStep: integer('Tasks in each iteration', { minimum: 1, default: 8, unit: 'tasks' }),
    groupSize: integer('Episodes for each task, its group; their mean reward is the baseline', {
      minimum: 1,
      default: 8,
      unit: 'episodes',
    }),
    workers: integer('Episodes in flight; 1 collects them one after another', {
      minimum: 1,
      default: 32,
      unit: 'episodes',
    }),
    maxTurns: integer('Turns after which an episode ends as truncated-turns', {
      minimum: 1,
      default: 4,
      unit: 'turns',
    }),
    maxEpisodeTokens: integer(
      'Tokens, prompt and all turns together, after which an episode ends as truncated-tokens',
      { minimum: 16, default: 768, unit: 'tokens' },
    ),
    invalidCallLimit: integer(
      'Unreadable, unknown or invalid calls after which an episode ends as invalid-calls',
      { minimum: 1, default: 3, unit: 'calls' },
    ),
    invalidCallPenalty: number('Subtracted from the reward for each such call', {
      minimum: 0,
      default: 0,
      unit: 'reward',
    }),
    episodeTimeoutS: number(
      'Wall-clock limit of an episode; after it the episode is aborted and has no reward',
      { exclusiveMinimum: 0, maximum: 86_400, default: 120, unit: 's' },
    ),
    resampleZeroVariance: ResampleBlock,
  },
  'How episodes are collected',
);
