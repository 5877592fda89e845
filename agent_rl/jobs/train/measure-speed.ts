import { sum } from '../../algorithms/statistics.ts';
import type { Config } from '../../config/index.ts';
import { type Generator, unbiased } from '../../core/services/generator.ts';
import type { Learner } from '../../core/services/learner.ts';

/** How long a run will take, and the speeds of this machine that it follows from. */
export type ExpectedTime = Awaited<ReturnType<typeof expectedTime>>;

const [warmUpTokens, sampledTokens] = [4, 16];
/** A backward pass costs about two forward ones. */
const passesOfUpdate = 3;

/** What is measured. */
interface Measured {
  generator: Generator;
  training: { learner: Learner };
}

/** What an episode is expected to fill of the tokens that it may have. */
const filledShare = 0.5;

/** Longest context or sequence that is measured with: a large model would take minutes for more. */
const longestMeasured = 192;

/** Different for every row, so that nothing is computed for several of them at once. */
const ownTokens = (row: number, length: number): number[] =>
  Array.from({ length }, (_, place) => (place < 16 ? (row >> place) & 1 : 0));

/** Samples a few tokens with every row, in contexts of half the expected length, and scores one micro-batch, each once to warm up and once timed. */
async function measureSpeed(
  { generator, training: { learner } }: Measured,
  { rollout, algorithm }: Config,
) {
  const length = Math.min(longestMeasured, rollout.maxEpisodeTokens);
  const sequences = Math.max(1, Math.floor(algorithm.microBatchTokens / length));
  const tokens = Array.from({ length: sequences }, (_, row) =>
    Int32Array.from(ownTokens(row, length)),
  );
  const score = () => learner.forward(tokens, { temperature: 1, which: 'policy' });
  const decodeTokensPerSecond = await drawingSpeed(generator, rollout);
  await score();
  const scoreS = await secondsOf(score);
  return {
    decodeTokensPerSecond,
    trainTokensPerSecond: (sequences * length) / (scoreS * passesOfUpdate),
  };
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
export const scorings = ({ kl, correction }: Config['algorithm']): readonly string[] => [
  ...(kl.kind === 'none' ? [] : ['KL']),
  // Off a reward both sides of it are scored; in the loss the policy's own is there.
  ...(kl.kind !== 'none' && kl.in === 'reward' ? ["KL's policy"] : []),
  ...(correction.type === 'none' ? [] : ['correction']),
];

/** What of a plan takes time. */
type PlannedWork = Record<
  'evaluations' | 'evalEpisodes' | 'selections' | 'selectionEpisodes' | 'rollouts',
  number
> & {
  /** Of an episode, 1 by default: each has its turns. */
  agents?: number;
};

/**
 * How long a run will take, from what is measured just now, if episodes fill half of the tokens that they may have, as if
 * each of these were drawn and trained on by itself: what episodes have in common is not counted, nor are sandbox and tools.
 */
export async function expectedTime(parts: Measured, config: Config, plan: PlannedWork) {
  const speed = await measureSpeed(parts, config);
  return { ...speed, expectedS: expectedSeconds(config, plan, speed) };
}

/** The same, from speeds that are known. */
export function expectedSeconds(
  { rollout, algorithm }: Config,
  plan: PlannedWork,
  speed: { decodeTokensPerSecond: number | null; trainTokensPerSecond: number },
): number {
  const tokens = rollout.maxEpisodeTokens * filledShare;
  const passes = algorithm.epochs + scorings(algorithm).length / passesOfUpdate;
  const { agents = 1 } = plan;
  const updates = (plan.rollouts * agents * passes * tokens) / speed.trainTokensPerSecond;
  const evaluated = plan.evaluations * plan.evalEpisodes + plan.selections * plan.selectionEpisodes;
  const episodes = plan.rollouts + evaluated;
  const drawn = episodes * agents * tokens;
  const { decodeTokensPerSecond: drawing } = speed;
  return (drawing === null ? 0 : drawn / drawing) + updates;
}
