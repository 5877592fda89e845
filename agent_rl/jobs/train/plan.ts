import { sum } from '../../algorithms/statistics.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import { largest } from '../../core/long-lists.ts';
import { engineThreads } from '../../compose/model/open-engine.ts';
import { sandboxWorkers } from '../../compose/open-run-sandbox.ts';
import { needs } from '../../compose/plugins/plugin-needs.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { Config } from '../../config/index.ts';
import type { EngineClient } from '../../engine-thread/engine-client.ts';
import {
  machineBytes,
  type MemoryPlan,
  planInWords,
  sumOfPlans,
} from '../../engine-thread/memory-plan.ts';
import { withoutTasks } from '../../../dataset/tasks/selection-tasks.ts';
import type { SandboxTier } from '../../sandbox/choose-backend.ts';
import { tierMemory } from '../../sandbox/tier-facts.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';
import { checkpointRoom, roomText } from './checkpoint-room.ts';
import { tokensText } from '../../runs/cost/price.ts';
import { evaluationsAfter } from '../../runs/cost/evaluations-after.ts';
import { scorings } from './measure-speed.ts';

/** What of a run its plan follows from, besides its facts. */
type PlannedRun = Pick<ResolvedRun, 'config' | 'length' | 'attempts'> &
  Partial<Pick<ResolvedRun, 'policies'>>;

/** What the plan of a run follows from besides its config. */
export function planFacts({ config, chosen, parameters, policies, tasks }: ResolvedRun) {
  const learning = [...policies.values()].filter(({ learns }) => learns);
  const named = learning.map(({ model }) => countParameters(model.description));
  const left = withoutTasks(tasks.sets, new Set(tasks.selection));
  const listed = left.flatMap(({ endless, tasks: own }) => (endless === undefined ? own : []));
  return {
    trainTasks: Math.min(listed.length, config.dataset.maxSamples ?? Infinity),
    /** What makes tasks to train on without end. */
    endless: left.flatMap(({ endless }) => endless?.source ?? []),
    selectionTasks: tasks.selection.length,
    evalTasks: tasks.evaluation.length,
    /** Of all policies that are trained. */
    parameters: sum([parameters, ...named].map((one) => one.parameters)),
    trainedParameters: sum([parameters, ...named].map((one) => one.trainedParameters)),
    /** At once; 0 where nothing asks for one. */
    sandboxes: needs(chosen, 'sandbox') ? sandboxWorkers(config) : 0,
    /** Most in an episode of the run: each has a transcript. */
    agents: largest(
      chosen.environments.map(({ agents }) => agents.length),
      1,
    ),
  };
}

type PlanFacts = Omit<ReturnType<typeof planFacts>, 'agents' | 'endless'> & {
  agents?: number;
  endless?: readonly string[];
  /** Tasks whose prompts are too long. */
  leftOut?: number;
};

/** How many tasks are trained on; for an endless set, its generator instead of a number. */
function trainedText({ trainTasks, endless = [] }: PlanFacts): string {
  const made = endless.length === 0 ? [] : [`an endless supply from ${endless.join(' and ')}`];
  const listed = trainTasks === 0 && made.length > 0 ? [] : [`${trainTasks}`];
  return [...listed, ...made].join(' and ');
}

type PlannedEpisodes = Pick<
  ReturnType<typeof trainingPlan>,
  'rollouts' | 'agents' | 'evaluations' | 'evalEpisodes' | 'selections' | 'selectionEpisodes'
>;

/** A run before it starts, as numbers. */
export function trainingPlan(run: PlannedRun, facts: PlanFacts) {
  const { config, attempts, length } = run;
  const { rollout, algorithm } = config;
  const { last } = length;
  const rolloutsPerIteration = rollout.tasksPerStep * rollout.groupSize;
  const { agents = 1 } = facts;
  const mostTokens = rolloutsPerIteration * agents * rollout.maxEpisodeTokens;
  const tokens = algorithm.microBatchTokens;
  const { heldOut, selection } = evaluationsAfter(0, config);
  const { hint, leastHintGain } = config.algorithm.distill;
  const measuresHint = hint !== undefined && leastHintGain > 0;
  return {
    rolloutsPerIteration,
    rollouts: rolloutsPerIteration * last,
    agents,
    optimizerSteps: last * algorithm.epochs * algorithm.updatesPerBatch,
    /** If every episode were as long as allowed. */
    mostMicroBatchesPerStep: Math.ceil(mostTokens / algorithm.updatesPerBatch / tokens),
    evaluations: heldOut + Number(config.eval.before) + Number(measuresHint),
    evalEpisodes: facts.evalTasks * attempts.samples,
    checkpointBytes: checkpointRoom(run, facts.trainedParameters),
    /** Of the tasks that the best checkpoint is chosen by, after the last iteration in any case. */
    selections: facts.selectionTasks === 0 ? 0 : selection,
    selectionEpisodes: facts.selectionTasks * attempts.samples,
  };
}

/** What is known once the engine and the sandbox are open. */
export interface OpenedFacts {
  memory: MemoryPlan;
  /** Threads that draw tokens, of the engine that has most. */
  decoders: number;
  /** Absent where nothing asks for a sandbox. */
  sandboxTier?: SandboxTier | undefined;
  /** What the disk has for checkpoints. */
  bytesForCheckpoints: number;
  /** Why stronger sandboxes are not taken; absent where the log says it. */
  sandboxesSkipped?: readonly string[] | undefined;
}

/** What the engines of this process say of themselves once they are open, and which sandbox there is. */
export async function openedFacts(
  engines: readonly EngineClient[],
  bytesForCheckpoints: number,
  tier: SandboxTier | undefined,
): Promise<OpenedFacts> {
  const infos = await Promise.all(engines.map((engine) => engine.info()));
  return {
    bytesForCheckpoints,
    memory: sumOfPlans(infos.map(({ plan }) => plan)),
    decoders: largest(
      infos.map(({ decoders }) => decoders),
      0,
    ),
    sandboxTier: tier,
  };
}

/** Sandboxes come on top of what the engine was checked for, and grow only as they are used: a warning, not an error. */
const beyondMemory = (bytes: number, sandboxes: number): string[] =>
  bytes <= machineBytes()
    ? []
    : [
        `  warning       this is more than the ${mebibytes(machineBytes())} of this machine: lower ${sandboxes > 0 ? 'sandbox.workers, ' : ''}rollout.workers or algorithm.microBatchTokens`,
      ];

const percent = (share: number): string =>
  `${(100 * share).toLocaleString('en', { maximumSignificantDigits: 3 })} %`;

/** Where prices are known: what the run costs if every episode takes all that it may. */
function priceText(
  config: Config,
  { rollouts, agents, evaluations, evalEpisodes, selections, selectionEpisodes }: PlannedEpisodes,
): string[] {
  const { rollout, policy, algorithm, run } = config;
  if (run.prices === undefined) return [];
  const { maxEpisodeTokens, maxTurns } = rollout;
  const episodes = rollouts + evaluations * evalEpisodes + selections * selectionEpisodes;
  const most = {
    read: episodes * agents * maxTurns * maxEpisodeTokens,
    sampled: episodes * agents * Math.min(maxTurns * policy.maxTurnTokens, maxEpisodeTokens),
    trained: rollouts * agents * algorithm.epochs * maxEpisodeTokens,
  };
  return [
    `  price         ${tokensText(most, run.prices)} if every episode uses all its tokens and turns, not counting retries, resampling and padding; the log has an estimate after the first iteration`,
  ];
}

/** The number of threads changes how sums are rounded, so a default that follows the machine is shown. */
const threadsText = (config: Config, decoders: number): string =>
  `engine threads: ${engineThreads(config)}${config.run.engineThreads === undefined ? ' (one per processor)' : ''}, sampling threads: ${decoders}`;

/** The plan as the user reads it. */
export function planText(
  { config, attempts, length: { last, planned }, policies = new Map() }: PlannedRun,
  facts: PlanFacts,
  plan: ReturnType<typeof trainingPlan>,
  { memory, decoders, sandboxTier, sandboxesSkipped = [], bytesForCheckpoints }: OpenedFacts,
): string {
  const { rollout, algorithm } = config;
  const { leftOut = 0 } = facts;
  const iterations = last === planned ? `${last}` : `the first ${last} of ${planned}`;
  const sandboxes = sandboxTier === undefined ? 0 : tierMemory(sandboxTier, facts.sandboxes);
  const total = memory.total + sandboxes;
  return [
    'Plan',
    `  tasks         ${trainedText(facts)} to train on, ${facts.evalTasks} held out${facts.selectionTasks > 0 ? `, ${facts.selectionTasks} kept out of training to choose the best checkpoint` : ''}${leftOut > 0 ? `, ${leftOut} left out as too long` : ''}`,
    `  rollouts      ${rollout.tasksPerStep} tasks x ${rollout.groupSize} episodes = ${plan.rolloutsPerIteration} per iteration, ${plan.rollouts} in total; iterations: ${iterations}${plan.agents === 1 ? '' : `; agents in an episode: ${plan.agents}`}`,
    `  updates       optimiser steps: ${plan.optimizerSteps}; micro-batches per step: at most ${plan.mostMicroBatchesPerStep}, of ${algorithm.microBatchTokens} tokens each${scorings(
      algorithm,
    )
      .map((what) => `; one more forward pass for the ${what}`)
      .join('')}`,
    `  evaluations   ${plan.evaluations} x ${plan.evalEpisodes} episodes${plan.selections > 0 ? `, and ${plan.selections} x ${plan.selectionEpisodes} to choose the best checkpoint` : ''}, temperature ${attempts.temperature}`,
    `  model         ${(facts.parameters / 1e6).toFixed(2)} M parameters on ${config.run.device}, ${threadsText(config, decoders)}`,
    ...[...policies].map(
      ([name, { learns, model }]) =>
        `  policy        ${name}: ${model.folder} (${learns ? 'trained' : 'its weights never change'})`,
    ),
    `  trained       ${(facts.trainedParameters / 1e6).toFixed(2)} M of them, ${percent(facts.trainedParameters / facts.parameters)}`,
    `  memory        about ${mebibytes(total)}: ${planInWords(memory)}, sandboxes ${mebibytes(sandboxes)}${sandboxTier === undefined ? '' : ` (${sandboxTier})`}`,
    ...beyondMemory(total, facts.sandboxes),
    ...sandboxesSkipped.map((why) => `  warning       sandbox skipped: ${why}`),
    ...roomText(plan.checkpointBytes, bytesForCheckpoints, config.run.outputDir),
    ...priceText(config, plan),
  ].join('\n');
}
