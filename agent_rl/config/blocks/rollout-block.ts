import { block, choice, integer, most, mostReward, number, within } from './block.ts';

/** What happens to an episode that has a reward and ended badly. */
const ofPolicy = (when: string) =>
  choice(
    `${when}: train on the episode, mask it (no gradient) or penalise it`,
    ['train', 'mask', 'penalise'],
    'train',
  );

/** What happens to an episode that failed because of the system. */
const ofSystem = (when: string) =>
  choice(
    `${when}: retry temporary failures, replace, penalise or leave out the episode`,
    ['retry', 'replace', 'penalise', 'leave-out'],
    'retry',
  );

const OutcomesBlock = block(
  {
    'truncated-tokens': ofPolicy('Token limit reached'),
    'truncated-turns': ofPolicy('Turn limit reached'),
    'invalid-calls': ofPolicy('Too many invalid calls'),
    'tool-timeout': ofPolicy('A program exceeded its time limit'),
    'agent-error': ofPolicy("An external agent failed because of the model's output"),
    'infrastructure-error': ofSystem('Generator, sandbox, tool or environment failed'),
    'agent-failed': ofSystem('An external agent failed'),
    'grader-error': ofSystem('Grading failed'),
  },
  "What happens to an episode, by its outcome. mask keeps it in the group's mean; penalise sets its reward to failures.penalty; replace plays the next sample of its group",
);

const FailuresBlock = block(
  {
    retries: integer('Retries of a temporary failure', within(0, 100, 2)),
    penalty: number('Reward of penalised episodes', within(-mostReward, mostReward, -1, 'reward')),
    toolThrows: choice(
      'When a tool throws: tell-model returns an error to the model and continues; fail-episode removes the reward',
      ['tell-model', 'fail-episode'],
      'tell-model',
    ),
    maxShare: number(
      'The run stops if more than this share of the episodes fails in 10 iterations or in an evaluation (with 95 % confidence, Wilson)',
      within(0, 1, 0.05),
    ),
    maxInARow: integer(
      'The run stops after this many consecutive failed episodes',
      within(1, 1_000_000, 50, 'episodes'),
    ),
  },
  'How often failures are retried, what they cost, and how many of them stop the run',
);

const DeadlinesBlock = block(
  {
    environmentS: number(
      "Time limit of an environment's start or step, excluding waits for the sandbox",
      within(1, 86_400, 120, 's'),
    ),
    gradingS: number(
      'Time limit for grading an episode and its rewards, excluding waits for the sandbox',
      within(1, 86_400, 120, 's'),
    ),
    stallS: number(
      'The run stops if a plugin blocks the process for this long',
      within(1, 86_400, 300, 's'),
    ),
  },
  'Time limits of plugins; tools have their own limit and sampling has no limit',
);

export const AsyncBlock = block(
  {
    lag: integer(
      'Iterations by which the weights that play are behind: with 1, the next episodes are played while the weights are updated',
      within(0, 1, 0, 'iterations'),
    ),
  },
  'Whether episodes are played while the weights are updated',
);

export const RolloutBlock = block(
  {
    tasksPerStep: integer('Tasks per iteration', within(1, most.count, 8, 'tasks')),
    groupSize: integer(
      'Episodes per task; their mean reward is the baseline',
      within(1, 65_536, 8, 'episodes'),
    ),
    workers: integer('Episodes played at the same time', within(1, 65_536, 32, 'episodes')),
    maxTurns: integer(
      'Turn limit of an episode; beyond it the outcome is truncated-turns',
      within(1, 100_000, 4, 'turns'),
    ),
    maxEpisodeTokens: integer(
      'Token limit of an episode, prompt and all turns; beyond it the outcome is truncated-tokens',
      within(16, most.tokens, 768, 'tokens'),
    ),
    invalidCallLimit: integer(
      'After this number of malformed, unknown or invalid calls, an episode ends as invalid-calls',
      within(1, most.count, 3, 'calls'),
    ),
    invalidCallPenalty: number(
      'Subtracted from the reward for each malformed, unknown or invalid call',
      within(0, mostReward, 0, 'reward'),
    ),
    outcomes: OutcomesBlock,
    failures: FailuresBlock,
    deadlines: DeadlinesBlock,
  },
  'How episodes are collected',
);
