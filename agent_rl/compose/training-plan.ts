import { totalmem } from 'node:os';

import { type Config, runLength } from '../config/index.ts';
import { mebibytes } from './mebibytes.ts';

export interface PlanFacts {
  readonly trainTasks: number;
  readonly evalTasks: number;
  readonly parameters: number;
  /** How many of them learn: all, or an adapter's. */
  readonly trainedParameters: number;
  /** Bytes of the key-value cache. */
  readonly cacheBytes: number;
  /** Sandbox processes; 0 where nothing asks for one. */
  readonly sandboxes: number;
  readonly layers: number;
  readonly heads: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
}

/** A run before it starts, as numbers. */
export interface TrainingPlan {
  readonly rolloutsPerIteration: number;
  readonly rollouts: number;
  readonly optimizerSteps: number;
  /** If every episode were as long as allowed. */
  readonly mostMicroBatchesPerStep: number;
  readonly memoryBytes: {
    readonly weightsAndOptimizer: number;
    readonly cache: number;
    readonly activations: number;
    readonly sandboxes: number;
  };
  readonly evaluations: number;
  readonly evalEpisodes: number;
}

const bytesPerFloat = 4;
/** Weights, gradient sums and two moments. */
const copiesOfParameters = 4;
/** Resident size of one sandbox process after a run; see design.md. */
const sandboxBytes = 230 * 2 ** 20;
/** Arrays of a layer that the backward pass keeps, in units of [tokens, width]. */
const keptWidths = 14;

/** What a config asks for, counted. Activations are estimated from the arrays the backward pass keeps. */
export function trainingPlan(config: Config, facts: PlanFacts): TrainingPlan {
  const { rollout, algorithm, policy } = config;
  const { last, planned } = runLength(config);
  const rolloutsPerIteration = rollout.tasksPerStep * rollout.groupSize;
  const mostTokens = rolloutsPerIteration * rollout.maxEpisodeTokens;
  const tokens = algorithm.microBatchTokens;
  const perToken =
    keptWidths * facts.hiddenSize +
    4 * facts.intermediateSize +
    4 * facts.heads * Math.min(policy.maxContextTokens, rollout.maxEpisodeTokens);
  const during =
    config.eval.every === 0 ? 0 : Math.floor(Math.min(last, planned - 1) / config.eval.every);
  return {
    rolloutsPerIteration,
    rollouts: rolloutsPerIteration * last,
    optimizerSteps: last * algorithm.epochs,
    mostMicroBatchesPerStep: Math.ceil(mostTokens / tokens),
    memoryBytes: {
      weightsAndOptimizer: copiesOfParameters * bytesPerFloat * facts.parameters,
      cache: facts.cacheBytes,
      activations: bytesPerFloat * tokens * perToken * facts.layers,
      sandboxes: facts.sandboxes * sandboxBytes,
    },
    evaluations: during + Number(config.eval.before) + Number(config.eval.after),
    evalEpisodes: facts.evalTasks * config.eval.samples,
  };
}

/** What a plan needs beyond the memory of the machine is said, not refused: activations and sandboxes are estimates. */
const beyondMemory = (bytes: number): string[] =>
  bytes <= totalmem()
    ? []
    : [
        `  warning       that is more than the ${mebibytes(totalmem())} of this machine: lower algorithm.microBatchTokens, rollout.workers or sandbox.workers`,
      ];

const percent = (share: number): string =>
  `${(100 * share).toLocaleString('en', { maximumSignificantDigits: 3 })} %`;

/** The plan as the user reads it. */
export function planText(
  config: Config,
  facts: PlanFacts,
  plan: TrainingPlan,
  expectedS: number,
): string {
  const { rollout, algorithm } = config;
  const { last, planned } = runLength(config);
  const iterations = last === planned ? `${last}` : `the first ${last} of ${planned}`;
  const { weightsAndOptimizer, cache, activations, sandboxes } = plan.memoryBytes;
  const total = weightsAndOptimizer + cache + activations + sandboxes;
  return [
    'Plan',
    `  tasks         ${facts.trainTasks} to train on, ${facts.evalTasks} held out`,
    `  rollouts      ${rollout.tasksPerStep} tasks x ${rollout.groupSize} episodes = ${plan.rolloutsPerIteration} an iteration, ${plan.rollouts} in ${iterations} iterations`,
    `  updates       ${plan.optimizerSteps} optimiser steps, at most ${plan.mostMicroBatchesPerStep} micro-batches of ${algorithm.microBatchTokens} tokens each`,
    `  evaluations   ${plan.evaluations} x ${plan.evalEpisodes} episodes, temperature ${config.eval.temperature}`,
    `  model         ${(facts.parameters / 1e6).toFixed(2)} M parameters on ${config.run.device}`,
    `  trained       ${(facts.trainedParameters / 1e6).toFixed(2)} M of them, ${percent(facts.trainedParameters / facts.parameters)}`,
    `  memory        about ${mebibytes(total)} and Node itself: weights and optimiser ${mebibytes(weightsAndOptimizer)}, cache ${mebibytes(cache)}, activations ${mebibytes(activations)}, sandboxes ${mebibytes(sandboxes)}`,
    ...beyondMemory(total),
    `  time          about ${Math.round(expectedS)} s`,
  ].join('\n');
}
