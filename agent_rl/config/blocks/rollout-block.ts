import { block, choice, integer, most, mostReward, number, within } from './block.ts';

/** What becomes of an episode that has a reward and ended badly. */
const ofPolicy = (when: string) =>
  choice(
    `${when}: train on its reward; mask, which counts in its group's mean and has no gradient; or penalise, which replaces its reward with failures.penalty`,
    ['train', 'mask', 'penalise'],
    'train',
  );

/** What becomes of an episode that the system failed. */
const ofSystem = (when: string) =>
  choice(
    `${when}: retry under the same key what may pass, then leave out; replace by the next sample of its group; penalise, which trains on failures.penalty; or leave-out of its group`,
    ['retry', 'replace', 'penalise', 'leave-out'],
    'retry',
  );

const OutcomesBlock = block(
  {
    'truncated-tokens': ofPolicy('Tokens ran out'),
    'truncated-turns': ofPolicy('Turns ran out'),
    'invalid-calls': ofPolicy('Too many invalid calls'),
    'tool-timeout': ofPolicy('A program was stopped at its limit'),
    'agent-error': ofPolicy("An agent's own loop threw because of what the model wrote"),
    'infrastructure-error': ofSystem('Generator, sandbox, tool or environment failed'),
    'agent-failed': ofSystem('An agent with a loop of its own failed'),
    'grader-error': ofSystem('Judging failed'),
  },
  'What becomes of an episode, by how it ended',
);

const FailuresBlock = block(
  {
    retries: integer('Most times that what may pass is tried again', within(0, 100, 2)),
    penalty: number('Reward of penalised episodes', within(-mostReward, mostReward, -1, 'reward')),
    toolThrows: choice(
      "An exception of a tool's own: tell-model answers the call with an error and the episode continues; fail-episode takes its reward",
      ['tell-model', 'fail-episode'],
      'tell-model',
    ),
    maxShare: number(
      'The run stops when more episodes than this share failed, or had a tool fail: by the lower end of the Wilson 95 % interval over the last 10 iterations, or over an evaluation',
      within(0, 1, 0.05),
    ),
    maxInARow: integer(
      'The run stops at once after this many failed episodes in a row',
      within(1, 1_000_000, 50, 'episodes'),
    ),
  },
  'Episodes that the system failed',
);

const DeadlinesBlock = block(
  {
    environmentS: number(
      'What an environment may take to start or to answer a turn; waiting for the sandbox does not count',
      within(1, 86_400, 120, 's'),
    ),
    gradingS: number(
      'What judging an episode and its rewards may take; waiting for the sandbox does not count',
      within(1, 86_400, 120, 's'),
    ),
    stallS: number(
      'A plugin that blocks the whole process for so long ends the run: nothing else can end it',
      within(1, 86_400, 300, 's'),
    ),
  },
  "Limits of a plugin's own work; sampling has none, a tool has its own",
);

export const RolloutBlock = block(
  {
    tasksPerStep: integer('Tasks in each iteration', within(1, most.count, 8, 'tasks')),
    groupSize: integer(
      'Episodes for each task, its group; their mean reward is the baseline',
      within(1, 65_536, 8, 'episodes'),
    ),
    workers: integer(
      'Episodes in flight; 1 collects them one after another',
      within(1, 65_536, 32, 'episodes'),
    ),
    maxTurns: integer(
      'Turns after which an episode ends as truncated-turns',
      within(1, 100_000, 4, 'turns'),
    ),
    maxEpisodeTokens: integer(
      'Tokens, prompt and all turns together, after which an episode ends as truncated-tokens',
      within(16, most.tokens, 768, 'tokens'),
    ),
    invalidCallLimit: integer(
      'Unreadable, unknown or invalid calls after which an episode ends as invalid-calls',
      within(1, most.count, 3, 'calls'),
    ),
    invalidCallPenalty: number(
      'Subtracted from the reward for each such call',
      within(0, mostReward, 0, 'reward'),
    ),
    outcomes: OutcomesBlock,
    failures: FailuresBlock,
    deadlines: DeadlinesBlock,
  },
  'How episodes are collected',
);
