/** A run that goes wrong on purpose, and what must be told of it first. */
export interface SickRun {
  name: string;
  /** What is wrong. */
  about: string;
  /** The check of `explain` whose finding must come first. */
  check: string;
  /** The iteration after which a warning must name it. */
  warnedAt: number;
  /** What its last lines must say: whether it got better or worse. */
  verdict: 'better' | 'worse' | 'unclear';
  /** Settings that override grpo.yaml of a project of `agent-rl new`. */
  sets: Readonly<Record<string, unknown>>;
}

/** All of it, in few and small iterations. */
export const sickLength = {
  'rollout.tasksPerStep': 8,
  'rollout.groupSize': 8,
  'train.iterations': 16,
  'eval.maxTasks': 100,
  'checkpoint.every': 0,
};

const own = './plugins/index.ts';
const sick = './plugins/sick-plugins.ts';

/** In a project that has learned: `runs/sft-seed1`, and `runs/grpo-seed1` after it. */
export const sickRuns: readonly SickRun[] = [
  {
    name: 'tool-avoidance',
    about: 'each call costs more than it earns while few answers are right',
    check: 'no-calls',
    warnedAt: 11,
    verdict: 'worse',
    sets: { plugins: [own, sick], rewards: [{ type: 'call_price' }] },
  },
  {
    name: 'constant-reward',
    about: 'the reward does not look at the episode',
    check: 'constant-reward',
    warnedAt: 2,
    verdict: 'unclear',
    sets: { plugins: [own, sick], rewards: [{ type: 'flat' }], 'algorithm.environmentWeight': 0 },
  },
  {
    name: 'unread-calls',
    about: 'calls are read in a format that the model does not write',
    check: 'unread-calls',
    warnedAt: 2,
    verdict: 'unclear',
    sets: { 'policy.toolCallFormat': 'llama3' },
  },
  {
    name: 'truncation',
    about: 'turns are cut off before a call is complete',
    check: 'truncated',
    warnedAt: 2,
    verdict: 'unclear',
    sets: { 'policy.maxTurnTokens': 24 },
  },
  {
    name: 'learning-rate-too-high',
    about: 'a step moves weights by a large part of their size',
    check: 'learning-rate',
    warnedAt: 2,
    verdict: 'worse',
    sets: { 'train.learningRate': 2e-2 },
  },
  {
    name: 'learning-rate-too-low',
    about: 'no step moves a weight by a measurable part of its size',
    check: 'learning-rate',
    warnedAt: 11,
    verdict: 'unclear',
    sets: { 'train.learningRate': 1e-7 },
  },
  {
    name: 'lying-tool',
    about: 'the tool answers something else',
    check: 'tool-results',
    warnedAt: 3,
    verdict: 'unclear',
    sets: { plugins: ['./plugins/with-lying-tool.ts'] },
  },
  {
    name: 'paid-without-work',
    about: 'any number is taken for the right one',
    check: 'paid-for-nothing',
    warnedAt: 10,
    verdict: 'unclear',
    sets: { plugins: [own, sick], environment: { type: 'lenient' } },
  },
  {
    name: 'masked-turns',
    about: 'episodes that end cut off are masked, and most do',
    check: 'masked',
    warnedAt: 2,
    verdict: 'unclear',
    sets: { 'policy.maxTurnTokens': 24, 'rollout.outcomes.truncated-tokens': 'mask' },
  },
  {
    name: 'one-task',
    about: 'one task is repeated',
    check: 'few-tasks',
    warnedAt: 4,
    verdict: 'unclear',
    sets: { 'dataset.trainSplit': 'one-task' },
  },
  {
    name: 'starter-that-cannot',
    about: 'the model has never seen the tool, and calls another',
    check: 'rejected-calls',
    warnedAt: 2,
    verdict: 'unclear',
    sets: { 'model.path': 'model/starter' },
  },
  {
    name: 'opponent-always-wins',
    about: 'the opponent is too strong to be beaten',
    check: 'one-sided',
    warnedAt: 2,
    verdict: 'unclear',
    sets: {
      plugins: [own, sick],
      environment: { type: 'race' },
      agents: [{ name: 'rival', train: false, model: 'runs/rival' }],
    },
  },
  {
    name: 'healthy',
    about: 'nothing is wrong',
    check: '',
    warnedAt: 0,
    verdict: 'better',
    sets: {},
  },
];
