import { join } from 'node:path';

import { onlyAgent } from '#agent_rl/core/rollout.ts';
import { openTrainableAgent, type TrainableAgent } from '#agent_rl/compose/open-agent.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { resolveRun } from '#agent_rl/compose/resolve-run.ts';
import { trainerOptions } from '#agent_rl/jobs/train/trainer-options.ts';
import type { TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { Learner } from '#agent_rl/core/services/learner.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { trainGrpo } from '#agent_rl/trainer/train-grpo.ts';
import type { Task } from '#agent_rl/core/tasks/task.ts';
import { loadCodeTaskSplits } from '#dataset/tasks/code-task-dataset.ts';
import { loadSearchTaskSplits } from '#dataset/tasks/search-task-dataset.ts';
import { EpochPlan } from '#dataset/tasks/plan/task-plan.ts';

/** What is done to a run that must then not pass for one that learns. */
export type Fault = 'none' | 'flipped-advantages' | 'other-tokens' | 'shuffled-rewards';

/** The tokens of an episode, which of them were drawn, and how likely each was. */
interface Drawn {
  places: number[];
  logProbs: number[];
}

type LearningRun = Awaited<ReturnType<typeof learningRun>>;

/** By how much held-out success must rise at least. */
export const leastRise = 0.5;

const root = packageRoot();

/** A short run: few tasks, a high rate. */
const settings = [
  'rollout.tasksPerStep=6',
  'rollout.groupSize=8',
  'rollout.workers=48',
  'train.iterations=5',
  'train.learningRate=5e-4',
  'train.warmupSteps=0',
];

/** What is learned, and from which model. */
interface LearningJob {
  config: string;
  model: string;
  dataset: string;
  settings: readonly string[];
  load: (folder: string) => Promise<{ train: Iterable<Task>; eval: Iterable<Task> }>;
  isChosen: (task: Task) => boolean;
}

const codeExec: LearningJob = {
  config: 'code_exec_grpo.yaml',
  model: 'starter',
  dataset: 'code_tasks',
  settings: ['sandbox.wallS=20', 'train.iterations=3'],
  load: loadCodeTaskSplits,
  // Tasks in which only counting, or only multiplying, is easily done wrong.
  isChosen: ({ metadata: { tricky } }) => /^\["(?:count|times)"\]$/.test(JSON.stringify(tricky)),
};

/** Questions that the search starter mostly answers with another fact of the right document, in an index built for this run. */
export const searchJob = (index: string): LearningJob => ({
  config: 'search_qa_grpo.yaml',
  model: 'search-starter',
  dataset: 'search_tasks',
  settings: [
    `tools.0.corpus.path=${index}`,
    `tools.0.corpus.documents=${join(root, 'dataset', 'search_corpus', 'documents.jsonl')}`,
  ],
  load: loadSearchTaskSplits,
  isChosen: ({ metadata }) =>
    metadata['slice'] === undefined &&
    ['mayor', 'teacher', 'capital', 'captain'].includes(String(metadata['kind'])),
});

/**
 * Trains a starter model on a handful of tasks through the real engine, tool and trainer.
 *
 * @returns also everything the learner was given (`trained`), and by the ids of an episode's tokens what the engine said it drew
 */
export async function learningRun(fault: Fault, job = codeExec) {
  const prepared = await prepareRun({
    file: join(root, 'configs', job.config),
    overrides: [
      ...settings,
      ...job.settings,
      `model.path=${join(root, 'model', job.model)}`,
      `datasets.0.dir=${join(root, 'dataset', job.dataset)}`,
      ...(fault === 'shuffled-rewards' ? ['train.control=shuffled-rewards'] : []),
    ],
    flags: [],
  });
  const { signal } = new AbortController();
  const run = await resolveRun(prepared, { signal, print: () => undefined, trains: true });
  const { config } = run;
  const agent = await openTrainableAgent(run, { workers: config.rollout.workers, signal });
  try {
    const drawn = recordDraws(agent);
    const trained: TrainDatum[] = [];
    const { train, eval: held } = await job.load(config.datasets[0]!.dir ?? '');
    const options = trainerOptions(config, run.chosen, 'run');
    // Otherwise the run would stop at the first wrong token, before the test can compare any.
    const parityBound =
      fault === 'other-tokens' ? { max: Infinity, mean: Infinity } : options.train.parityBound;
    const learner = recordingLearner(agent.model.training.learner, trained, fault);
    const result = await trainGrpo(
      {
        options: { ...options, train: { ...options.train, parityBound } },
        policies: new Map([[onlyAgent, { learner, weights: agent.model.training.weights }]]),
        rollouts: agent.rollouts,
        tasks: new EpochPlan([...train].filter(job.isChosen), { seed: 1 }),
        evalTasks: [...held].filter(job.isChosen),
        emit: () => undefined,
        save: async () => ({ path: '', weightsSha256: '' }),
      },
      signal,
    );
    const { before, after } = result;
    if (before === undefined || after === undefined) throw new Error('The run was not evaluated.');
    return { before, after, result, trained, drawn };
  } finally {
    await agent.close();
  }
}

/** Notes what the engine draws, where it draws it: nothing between there and the learner can forge it. */
function recordDraws({ model: { generator } }: TrainableAgent): ReadonlyMap<string, Drawn> {
  const drawn = new Map<string, Drawn>();
  const open = new Map<string, Drawn>();
  const generate = generator.generate.bind(generator);
  generator.generate = async (request, signal) => {
    const generation = await generate(request, signal);
    const episode = open.get(request.episode) ?? { places: [], logProbs: [] };
    open.set(request.episode, episode);
    for (const [index, logProb] of generation.logProbs.entries()) {
      episode.places.push(request.tokens.length + index);
      episode.logProbs.push(logProb);
    }
    drawn.set([...request.tokens, ...generation.tokens].join(' '), structuredClone(episode));
    return generation;
  };
  const release = generator.release.bind(generator);
  generator.release = (episode) => {
    open.delete(episode);
    release(episode);
  };
  return drawn;
}

function changed(datum: TrainDatum, fault: Fault): TrainDatum {
  const { tokens, weights, advantages } = datum;
  const other = (id: number, place: number) => (weights[place] === 0 ? id : (id + 1) % 1000);
  if (fault === 'other-tokens') return { ...datum, tokens: tokens.map(other) };
  if (fault !== 'flipped-advantages') return datum;
  return { ...datum, advantages: advantages.map((advantage) => -advantage) };
}

const recordingLearner = (engine: Learner, trained: TrainDatum[], fault: Fault): Learner => ({
  ...engine,
  forwardBackward: (batch, loss) => {
    const data = batch.data.map((datum) => changed(datum, fault));
    trained.push(...data);
    return engine.forwardBackward({ ...batch, data }, loss);
  },
});

/** The first thing in which training data differ from what was drawn, or `undefined`. */
export function notWhatWasDrawn({ trained, drawn }: Pick<LearningRun, 'trained' | 'drawn'>) {
  for (const [index, { tokens, weights, oldLogProbs }] of trained.entries()) {
    const episode = drawn.get(tokens.join(' '));
    if (episode === undefined) return `datum ${index}: no episode has these tokens`;
    const places = [...weights.keys()].filter((place) => weights[place] !== 0);
    if (places.join(' ') !== episode.places.join(' '))
      return `datum ${index}: other tokens are trained`;
    const differs = places.some(
      (place, i) => oldLogProbs[place] !== Math.fround(episode.logProbs[i] ?? NaN),
    );
    if (differs) return `datum ${index}: other probabilities`;
  }
  return undefined;
}
