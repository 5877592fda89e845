import { mean, sum } from '../../algorithms/statistics.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { Config } from '../../config/index.ts';
import { largest } from '../../core/long-lists.ts';
import { type Generator, unbiased } from '../../core/services/generator.ts';
import type { Learner } from '../../core/services/learner.ts';
import { durationText } from '../../telemetry/index.ts';

/** How long a run will take, and the speeds of this machine that it follows from. */
export type ExpectedTime = Speed & { expectedS: number };

/** Tokens a second. */
interface Speed {
  /** Null where none are drawn. */
  decodeTokensPerSecond: number | null;
  trainTokensPerSecond: number;
}

const [warmUpTokens, sampledTokens] = [4, 16];
/** A backward pass costs about two forward ones. */
const passesOfUpdate = 3;

/** What is measured. */
interface Measured {
  generator: Generator;
  training: { learner: Learner };
}

/** What an episode is expected to fill of the tokens that it may have besides its prompt. */
const filledShare = 0.5;

/** Longest context or sequence that is measured with: a large model would take minutes for more. */
const longestMeasured = 192;

/** Different for every row, so that nothing is computed for several of them at once. */
const ownTokens = (row: number, length: number): number[] =>
  Array.from({ length }, (_, place) => (place < 16 ? (row >> place) & 1 : 0));

/** Tokens a second through an update: scores one micro-batch, once to warm up and once timed. */
async function trainingSpeed(
  learner: Learner,
  { algorithm }: Config,
  longestTokens: number,
): Promise<number> {
  const length = Math.min(longestMeasured, longestTokens);
  const sequences = Math.max(1, Math.floor(algorithm.microBatchTokens / length));
  const tokens = Array.from({ length: sequences }, (_, row) =>
    Int32Array.from(ownTokens(row, length)),
  );
  const score = () => learner.forward(tokens, { temperature: 1, which: 'policy' });
  await score();
  return (sequences * length) / ((await secondsOf(score)) * passesOfUpdate);
}

/** Tokens a second with all rows in use, whose prompts were computed before; null where none are drawn. */
async function drawingSpeed(
  generator: Generator,
  rollout: Config['rollout'],
): Promise<number | null> {
  if ((await generator.describe()).draws === false) return null;
  const rows = Math.min(rollout.workers, rollout.tasksPerStep * rollout.groupSize);
  const halfway = Math.floor((rollout.maxEpisodeTokens * filledShare) / 2);
  const length = Math.max(2, Math.min(longestMeasured, halfway));
  const episodes = Array.from({ length: rows }, (_, row) => ({
    name: `speed-${row}`,
    context: ownTokens(row, length),
  }));
  const turn = async (at: number, maxTokens: number): Promise<number> => {
    const turns = episodes.map(async (episode) => {
      const { name, context } = episode;
      const { tokens } = await generator.generate({
        episode: name,
        tokens: context,
        maxTokens,
        stopTokens: [],
        sampling: unbiased,
        key: { seed: 0, taskId: name, sample: 0, turn: at },
      });
      episode.context = [...context, ...tokens];
      return tokens.length;
    });
    return sum(await Promise.all(turns));
  };
  await turn(0, warmUpTokens);
  let drawn = 0;
  const seconds = await secondsOf(async () => {
    drawn = await turn(1, sampledTokens);
  });
  for (const { name } of episodes) generator.release(name);
  return Math.max(1, drawn) / seconds;
}

async function secondsOf(action: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await action();
  return (performance.now() - started) / 1000;
}

/** What every episode is scored for, once, before the updates of its iteration: a forward pass each. */
export const scorings = ({ kl, correction, distill }: Config['algorithm']): readonly string[] => [
  ...(kl.kind === 'none' ? [] : ['KL']),
  // Off a reward both sides of it are scored; in the loss the policy's own is there.
  ...(kl.kind !== 'none' && kl.in === 'reward' ? ["KL's policy"] : []),
  ...(correction.type === 'none' ? [] : ['correction']),
  ...(distill.teacher === undefined && distill.hint === undefined ? [] : ['teacher']),
];

/** What of a plan takes time. */
type PlannedWork = Record<
  'evaluations' | 'evalEpisodes' | 'selections' | 'selectionEpisodes' | 'rollouts',
  number
> & {
  /** Of an episode, 1 by default: each has its turns. */
  agents?: number;
  /** Of a prompt, on average. */
  promptTokens: number;
};

/**
 * How long a run will take, from what is measured just now, if episodes fill half of the room that their prompts leave: most
 * end sooner. Sandbox and tools are not counted.
 */
export async function expectedTime(
  parts: Measured,
  config: Config,
  plan: PlannedWork,
): Promise<ExpectedTime> {
  const { generator, training } = parts;
  const decodeTokensPerSecond = await drawingSpeed(generator, config.rollout);
  const longest = config.rollout.maxEpisodeTokens;
  const trainTokensPerSecond = await trainingSpeed(training.learner, config, longest);
  const speed = { decodeTokensPerSecond, trainTokensPerSecond };
  return { ...speed, expectedS: expectedSeconds(config, plan, speed) };
}

/** The same, from speeds that are known. */
export function expectedSeconds(
  { rollout, policy, algorithm, train }: Config,
  plan: PlannedWork,
  speed: Speed,
): number {
  const { agents = 1, promptTokens } = plan;
  const filled = (rollout.maxEpisodeTokens - promptTokens) * filledShare;
  const sampled = Math.min(filled, rollout.maxTurns * policy.maxTurnTokens * filledShare);
  // The prompt of a group goes through the update once.
  const prompt = promptTokens / (train.prefixTrees ? rollout.groupSize : 1);
  const passes = algorithm.epochs + scorings(algorithm).length / passesOfUpdate;
  const trained = plan.rollouts * agents * passes * (prompt + filled);
  const updates = trained / speed.trainTokensPerSecond;
  const evaluated = plan.evaluations * plan.evalEpisodes + plan.selections * plan.selectionEpisodes;
  const episodes = plan.rollouts + evaluated;
  const drawn = episodes * agents * sampled;
  const { decodeTokensPerSecond: drawing } = speed;
  return (drawing === null ? 0 : drawn / drawing) + updates;
}

/** The same of supervised training, by the lengths of its conversations. */
export async function expectedSupervised(
  learner: Learner,
  { config, length: { last } }: Pick<ResolvedRun, 'config' | 'length'>,
  lengths: readonly number[],
): Promise<Pick<ExpectedTime, 'expectedS' | 'trainTokensPerSecond'>> {
  const trainTokensPerSecond = await trainingSpeed(learner, config, largest(lengths));
  const tokens = last * config.train.batchSize * mean(lengths);
  return { expectedS: tokens / trainTokensPerSecond, trainTokensPerSecond };
}

/** The line of a dry run's plan. */
export function timeText(
  expected: (Partial<ExpectedTime> & Omit<ExpectedTime, 'decodeTokensPerSecond'>) | undefined,
): string {
  if (expected === undefined)
    return '  time          not measured: the run estimates it after its first iteration; --measure estimates it now';
  const { expectedS, decodeTokensPerSecond: drawing, trainTokensPerSecond } = expected;
  const about = `  time          about ${durationText(expectedS)}`;
  const trains = `trains on ${Math.round(trainTokensPerSecond)} tokens per second`;
  if (drawing === undefined) return `${about}, a rough estimate: this machine ${trains}`;
  const samples = drawing === null ? 'samples no new tokens' : `samples ${Math.round(drawing)}`;
  return `${about}, a rough estimate, usually too high: this machine ${trains} and ${samples}. The estimate assumes that episodes use half of their token limit and that tools take no time`;
}
