import type { CheckpointReason } from '#agent_rl/core/run-event.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import type { Task } from '#agent_rl/core/tasks/task.ts';
import { onlyAgent, type Rollout } from '#agent_rl/core/rollout.ts';
import type { EpisodeRequest } from '#agent_rl/rollout/episode-parts.ts';
import { type Metrics } from '#agent_rl/telemetry/metric-names.ts';
import { beginning } from '#agent_rl/trainer/standing.ts';
import { trainGrpo } from '#agent_rl/trainer/train-grpo.ts';
import type { GrpoRun, TrainerState, TrainingEvent } from '#agent_rl/trainer/trainer-contracts.ts';
import type { TaskPlan } from '#dataset/tasks/plan/task-plan.ts';
import type { GrpoOptions } from '#agent_rl/trainer/training-options.ts';
import { builtinSelection, groupRelativeBy } from './algorithm-parts.ts';
import { FakeLearner } from './fake-learner.ts';
import { ScriptedRollouts } from './scripted-rollouts.ts';
import { played } from './rollouts.ts';

const adam = { beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, maxGradNorm: 0 };
const noEvaluations = { before: false, after: false, every: 0 };

export const options: GrpoOptions = {
  run: 'run',
  seed: 1,
  lag: 0,
  rollout: {
    tasksPerStep: 2,
    groupSize: 2,
    maxTurns: 1,
    maxTurnTokens: 8,
    maxEpisodeTokens: 50,
    outcomes: {
      'truncated-tokens': 'train',
      'truncated-turns': 'train',
      'invalid-calls': 'train',
      'tool-timeout': 'train',
      'agent-error': 'train',
      'infrastructure-error': 'leave-out',
      'agent-failed': 'leave-out',
      'grader-error': 'leave-out',
    },
    failures: { retries: 2, penalty: -1, toolThrows: 'tell-model', maxShare: 1, maxInARow: 1000 },
    sampling: { ...unbiased, temperature: 0.8 },
  },
  algorithm: {
    advantage: groupRelativeBy({ std: 'none', eps: 0 }),
    loss: { type: 'clipped', settings: { clipLow: 0.2, clipHigh: 0.3 } },
    correction: undefined,
    selection: builtinSelection('all'),
    overlong: { share: 0, penalty: 1 },
    kl: { kind: 'none', weight: 0 },
    aggregation: 'token-mean',
    entropyBonus: 0,
    epochs: 1,
    updatesPerBatch: 1,
    microBatchTokens: 10,
  },
  train: {
    iterations: 2,
    learningRate: 1,
    warmupSteps: 0,
    schedule: 'constant',
    finalRatio: 0,
    ...adam,
    parityBound: { max: 1e-3, mean: 1e-4 },
  },
  eval: {
    ...noEvaluations,
    samples: 1,
    temperature: 0,
    strategy: 'all',
    selector: 'log-probability',
  },
  checkpoint: { every: 0, keepBest: false },
};

/** Tasks t0, t1, t2, … without end. */
const counting: TaskPlan = {
  sizes: [1000],
  tasksAt: (first, count) => Array.from({ length: count }, (_, i) => named(`t${first + i}`)),
  tasksInstead: (count, path) =>
    Array.from({ length: count }, (_, i) => named(['again', ...path, i].join('-'))),
};
const named = (taskId: string): Task => ({ taskId, prompt: '', metadata: {} });

export type Script = (request: EpisodeRequest) => Rollout;

/** The first of each pair succeeds. */
export const mixed: Script = ({ key }) => played({ reward: key.sample === 0 ? 1 : 0 });
export function always(reward: number): Script {
  return () => played({ reward });
}

/** Receives events of one type. */
export type Listener = {
  [Type in TrainingEvent['type']]?: (event: Extract<TrainingEvent, { type: Type }>) => unknown;
} & {
  /** Writes a checkpoint. */
  save?: (reason: CheckpointReason, state: TrainerState) => Promise<unknown>;
};

type Some<Block> = {
  [Name in keyof Block]?: Name extends 'outcomes' | 'failures' ? Partial<Block[Name]> : Block[Name];
};

/** Some settings of some blocks. */
export type Changes = { [Block in keyof GrpoOptions]?: Some<GrpoOptions[Block]> };

export const optionsWith = ({ rollout, algorithm, train, ...more }: Changes = {}): GrpoOptions => ({
  ...options,
  rollout: {
    ...options.rollout,
    ...rollout,
    outcomes: { ...options.rollout.outcomes, ...rollout?.outcomes },
    failures: { ...options.rollout.failures, ...rollout?.failures },
  },
  algorithm: { ...options.algorithm, ...algorithm },
  train: { ...options.train, ...train },
  eval: { ...options.eval, ...more.eval },
  checkpoint: { ...options.checkpoint, ...more.checkpoint },
});

export const setUp = (
  script: Script,
  changes: Changes = {},
  { save, ...heard }: Listener = {},
  parts: Partial<GrpoRun> = {},
) => {
  const learner = new FakeLearner();
  const rollouts = new ScriptedRollouts(script);
  const metrics: Metrics[] = [];
  const checkpoints: string[] = [];
  let from: TrainerState | undefined;
  let saved: TrainerState | undefined;
  const run: GrpoRun = {
    options: optionsWith(changes),
    policies: new Map([[onlyAgent, { learner, weights: learner }]]),
    rollouts,
    tasks: counting,
    evalTasks: [{ taskId: 'e', prompt: '', metadata: { family: 'sums' } }],
    emit: (event) => {
      if (event.type === 'iteration') metrics.push(event.metrics);
      (heard[event.type] as ((event: TrainingEvent) => unknown) | undefined)?.(event);
    },
    save: async (reason, state) => {
      if (reason !== 'best') saved = state;
      await (save?.(reason, state) ?? checkpoints.push(`${reason} ${state.iteration}`));
      return { path: '', weightsSha256: '' };
    },
    ...parts,
  };
  const trainer = {
    train: (signal: AbortSignal) => trainGrpo({ ...run, from }, signal),
    restore: (state: TrainerState) => {
      from = state;
    },
    /** As the newest checkpoint has it; the best one is no place to resume from. */
    state: () => saved ?? beginning(run, never).state,
  };
  return { trainer, learner, rollouts, metrics, checkpoints };
};

export const never: AbortSignal = new AbortController().signal;

/** The same after the training. */
export const trained = async (...settings: Parameters<typeof setUp>) => {
  const setting = setUp(...settings);
  const result = await setting.trainer.train(never);
  return { ...setting, ...result, result };
};

/** The same after a training that fails. */
export const failing = async (...settings: Parameters<typeof setUp>) => {
  const setting = setUp(...settings);
  const error: unknown = await setting.trainer.train(never).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { ...setting, error };
};
