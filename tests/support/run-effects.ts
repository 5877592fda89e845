import { join } from 'node:path';

import { episodeSettings } from '#agent_rl/compose/episode-maker.ts';
import { openRewarding } from '#agent_rl/compose/open-rewarding.ts';
import {
  collecting,
  engineOptions,
  type Imitation,
  learning,
} from '#agent_rl/compose/model/open-engine.ts';
import { noTasks } from '#agent_rl/compose/resolve-tasks.ts';
import { evaluationOf } from '#agent_rl/jobs/sft/open-supervised.ts';
import { sandboxOptions } from '#agent_rl/compose/open-run-sandbox.ts';
import type { PreparedRun } from '#agent_rl/compose/prepare-run.ts';
import { runContainer } from '#agent_rl/compose/plugins/container.ts';
import { needs } from '#agent_rl/compose/plugins/plugin-needs.ts';
import { withEnvironment } from '#agent_rl/compose/task-environments.ts';
import { taskReadings } from '#agent_rl/compose/task-sources.ts';
import { modelResolvers, resolveModel } from '#agent_rl/compose/model/resolve-model.ts';
import {
  attemptsOf,
  type Config,
  configOfPolicy,
  isTrained,
  openedPolicies,
  rewardName,
} from '#agent_rl/config/index.ts';
import { previewText } from '#agent_rl/jobs/train/train.ts';
import { sourcesOf, trainerOptions, trainOptions } from '#agent_rl/jobs/train/trainer-options.ts';
import { Cleanup } from '#agent_rl/core/stopping/cleanup.ts';
import type { Task } from '#agent_rl/core/tasks/task.ts';
import type { Outcome } from '#agent_rl/core/outcome.ts';
import { Transcript } from '#agent_rl/core/transcript.ts';
import { onlyAgent, type Rollout } from '#agent_rl/core/rollout.ts';
import { defaultRunName } from '#agent_rl/runs/resume-point.ts';
import type { EpisodeRequest } from '#agent_rl/rollout/episode-parts.ts';
import { chooseTasks } from '#agent_rl/trainer/evaluate.ts';
import type { GrpoRun } from '#agent_rl/trainer/trainer-contracts.ts';
import { trainGrpo } from '#agent_rl/trainer/train-grpo.ts';
import { type SftRun, trainSft } from '#agent_rl/trainer/train-sft.ts';
import { planOf } from '#dataset/tasks/task-sets.ts';
import { withLocalModel } from '#model/find/model-folder.ts';
import { FakeLearner } from './fake-learner.ts';
import { ScriptedRollouts } from './scripted-rollouts.ts';
import { played as playedOnce } from './rollouts.ts';

// What a run does, as far as its settings decide it: real trainers with a learner and episodes that are made up, and
// what the other parts are opened with. Two runs of equal effects cannot be told apart.

const never = new AbortController().signal;

/** What the parts of a run are opened with; what its trainer does, which takes a while and need not be asked where that differs. */
export async function effectsOf({ loaded, chosen }: PreparedRun) {
  // As the first step of every job: a revision of what is not on the hub is refused here.
  const { config } = (await withLocalModel({ loaded, signal: never, print: () => undefined }))
    .loaded;
  const model = await modelOf(config);
  const { run } = config;
  const all = {
    folder: join(run.outputDir, run.name ?? defaultRunName(loaded.file, run.seed)),
    logLevel: run.logLevel,
    trackers: chosen.trackers.map((tracker) => [named(tracker), tracker.limits]),
    policy: named(chosen.policy),
    format: chosen.toolCallFormat && named(chosen.toolCallFormat),
    tools: chosen.tools.map(({ entry: { spec } }) => [
      spec.name,
      spec.description,
      spec.parameters,
    ]),
  };
  const known = { config, chosen, model };
  const { trained, ...parts } = config.train.mode === 'sft' ? supervised(known) : reinforced(known);
  return {
    opened: textOf({ ...all, ...parts }),
    trained: async () => textOf(await trained()),
  };
}

const named = ({ entry, settings }: { entry: { spec: { name: string } }; settings: object }) => [
  entry.spec.name,
  settings,
];

const textOf = (effects: object): string =>
  JSON.stringify(effects, (_, value: unknown) =>
    ArrayBuffer.isView(value) ? Array.from(value as unknown as Iterable<unknown>) : value,
  );

type Model = Awaited<ReturnType<typeof modelOf>>;

interface Known extends Pick<PreparedRun, 'chosen'> {
  config: Config;
  model: Model;
}

/** The model by its names, without reading it. */
const modelOf = (config: Config) =>
  resolveModel(config, config.model.path, {
    trains: false,
    resolvers: {
      ...modelResolvers,
      localLayers: async ({ folder, adapters = [] }) => ({ base: folder, adapters: [...adapters] }),
      describeLayers: async () => ({}) as never,
      textFolder: async (folder) => folder,
      openLanguageModelFolder: async () => ({}) as never,
    },
  });

/** The named policies with their models by name, without looking for them. */
const policiesOf = (config: Config, known: Omit<Known, 'config'>) =>
  new Map(
    openedPolicies(config, { plays: true, trains: true }).map((name) => {
      const own = configOfPolicy(config, name);
      const layers = { base: own.model.path, adapters: [] };
      const model = { ...known.model, folder: own.model.path, layers };
      const learns = isTrained(config, name);
      return [name, { ...known, config: own, model, format: undefined, learns }] as const;
    }),
  );

function supervised({ config, chosen, model }: Known) {
  const { evalFiles, ...sources } = sourcesOf({ config, chosen, model, policies: new Map() });
  const learner = new FakeLearner();
  const examples = Array.from({ length: 7 }, (_, i) => {
    const transcript = new Transcript();
    transcript.append('user', [1, 2 + i]);
    transcript.append('demonstration', [3, 4 + i]);
    return transcript.record();
  });
  const { batchSize } = config.train;
  const { every: checkpointEvery, keepLast } = config.checkpoint;
  const checkpoints: string[] = [];
  const { every: evaluateEvery, maxTasks } = config.eval;
  let count = 0;
  const rollouts = new ScriptedRollouts((request) => episodeOf(request, count++, []));
  const tasks = { ...noTasks, evaluation: chooseTasks(tasksOf('eval', 40), maxTasks, 1) };
  const evaluate = evaluationOf(
    { config, tasks, attempts: attemptsOf(config.eval) },
    {
      agent: {
        rollouts,
        model: { training: { weights: learner, learner }, recordings: [] },
      } as never,
      signal: never,
    },
  );
  const every = { checkpointEvery, evaluateEvery };
  const run: SftRun = {
    options: { seed: config.run.seed, batchSize, train: trainOptions(config), ...every },
    learner,
    examples,
    evaluate: (iteration) => evaluate(iteration, 'run', unwritten),
    emit: () => undefined,
    save: async (reason, { iteration }) => {
      checkpoints.push(`${reason} ${iteration}`);
      return { path: '', weightsSha256: '' };
    },
  };
  const trained = async () => {
    const ended = await trainSft(run, never).then(({ state }) => state, String);
    const requests = askedOf(rollouts);
    return { ended, requests, told: toldTo(learner), checkpoints: checkpoints.slice(-keepLast) };
  };
  const training = { longestTokens: 4, loss: { name: 'cross_entropy' } as const };
  const request = { rows: 1, maxContextTokens: 16, training };
  const { tooLong } = config.dataset;
  const imitates = { longestTokens: 4 };
  return evaluateEvery === 0
    ? { sources, tooLong, engine: engineOptions(config, model, request), trained }
    : { sources, tooLong, evalFiles, ...played({ config, chosen, model }, imitates), trained };
}

/** Leaves what it is given as it is. */
const unwritten = {
  rollouts: (rollouts: object) => rollouts,
  weights: (weights: object) => weights,
} as never;

const askedOf = ({ requests }: ScriptedRollouts) =>
  requests.map(({ task: { taskId }, ...request }) => [taskId, request]);

const tasksOf = (set: string, count: number): Task[] =>
  Array.from({ length: count }, (_, i) => ({
    taskId: `${set}-${i}`,
    prompt: `${set} ${i}`,
    metadata: { set },
  }));

function reinforced({ config, chosen, model }: Known) {
  const sets = config.datasets.map(({ weight }, i) => ({ weight, tasks: tasksOf(`set${i}`, 40) }));
  return {
    sources: sourcesOf({ config, chosen, model, policies: policiesOf(config, { chosen, model }) }),
    readings: taskReadings(config, chosen),
    datasets: config.datasets.map(({ dir, weight, environment }, set) => [
      dir,
      weight,
      withEnvironment(tasksOf(`set${set}`, 1)[0]!, chosen.environments, environment).environment,
    ]),
    preview: previewText(tasksOf('preview', 10), config.run.previewTasks),
    logRollouts: config.run.logRollouts,
    tooLong: config.dataset.tooLong,
    prices: config.run.prices,
    ...played({ config, chosen, model }),
    trained: () => trainedBy({ config, chosen }, sets),
  };
}

/** What an agent is opened with. */
function played({ config, chosen, model }: Known, imitates?: Imitation) {
  const { rollout } = config;
  const { workers } = rollout;
  return {
    engine: engineOptions(config, model, {
      ...collecting(config, model, workers),
      ...learning(config, chosen.loss, imitates),
    }),
    services: [chosen.generator, chosen.learner].map(named),
    journal: config.journal,
    sandbox: needs(chosen, 'sandbox') && sandboxOptions(config),
    episodes: {
      workers,
      ...episodeSettings(config),
      stallS: rollout.deadlines.stallS,
      environments: chosen.environments.map((one) => [one.name, named(one), one.agents]),
      tools: chosen.tools.map(({ settings }) => settings),
      rewards: chosen.rewards.map((one) => [one.name, one.weight, one.tool, named(one)]),
    },
  };
}

/** Everything the trainer asks of learner, episodes and observer. */
async function trainedBy(
  { config, chosen }: Omit<Known, 'model'>,
  sets: Parameters<typeof planOf>[0],
) {
  const learner = new FakeLearner();
  // Below the usual bounds of parity; a narrower one ends the run.
  learner.gap = 5e-5;
  const names = config.rewards.map(rewardName);
  let count = 0;
  const rollouts = new ScriptedRollouts((request) => episodeOf(request, count++, names));
  const { maxSamples, shuffle } = config.dataset;
  const { seed } = config.run;
  const steps: string[] = [];
  const others: string[] = [];
  const run: GrpoRun = {
    options: trainerOptions(config, chosen, 'run'),
    policies: new Map([[onlyAgent, { learner, weights: learner }]]),
    rollouts,
    rewarding: openRewarding({ config, chosen, container: runContainer() }, new Cleanup()),
    tasks: planOf(sets, { seed, shuffle, maxSamples }),
    evalTasks: chooseTasks(tasksOf('eval', 4), config.eval.maxTasks, seed),
    emit: () => undefined,
    save: async (reason, { iteration }) => {
      (reason === 'best' ? others : steps).push(`${reason} ${iteration}`);
      return { path: '', weightsSha256: '' };
    },
  };
  return {
    ended: await trainGrpo(run, never).then(({ control }) => control, String),
    requests: askedOf(rollouts),
    told: toldTo(learner),
    // What is written is kept or deleted by this number alone: see pruneCheckpoints.
    checkpoints: [...steps.slice(-config.checkpoint.keepLast), ...others],
  };
}

const toldTo = ({ batches, losses, steps, forwards, published }: FakeLearner) =>
  [batches, losses, steps, forwards, published] as const;

/** How every eighth episode ends. */
const endings: readonly Outcome[] = [
  ...Array<Outcome>(3).fill('completed'),
  'truncated-tokens',
  'agent-error',
  'truncated-turns',
  'invalid-calls',
  'tool-timeout',
];

/** How a few more end, of 32 in a row: the system fails them. */
const failures: Readonly<Record<number, Outcome>> = {
  9: 'infrastructure-error',
  18: 'agent-failed',
  28: 'grader-error',
};

/** Groups with and without spread, of several lengths and endings. */
function episodeOf(
  { key, step, task: { taskId } }: EpisodeRequest,
  count: number,
  names: readonly string[],
): Rollout {
  const { sample } = key;
  const number = Number(taskId.split('-')[1]);
  const reward = number % 3 === 0 ? 1 : ((sample + number + step) % 3) / 2;
  const others = names.map((name, i) => [name, (sample * (i + 2)) % 3] as const);
  return playedOnce({
    reward,
    sampled: 3 + ((sample + number) % 4),
    outcome: failures[count % 32] ?? endings[count % 8] ?? 'completed',
    success: reward === 1,
    scores: Object.fromEntries([['environment', reward], ...others]),
  });
}
