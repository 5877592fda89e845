import { sum } from '../algorithms/statistics.ts';
import { tokenWeights } from '../algorithms/token-weights.ts';
import { largest } from '../core/long-lists.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { maskOf } from '../core/transcript.ts';
import { failureUse, type TokenUse } from '../rollout/tokens/ledger.ts';
import type { Collection } from './collect/collect-groups.ts';
import { actionOn } from './collect/outcome-actions.ts';
import type { LearnedEpisode } from './learned-episodes.ts';
import { mostSampledTokens } from './collect/collect-groups.ts';
import type { AlgorithmOptions, RolloutOptions } from './training-options.ts';

/** A datum and the episode it was made from. */
export interface TracedDatum {
  datum: TrainDatum;
  trajectory: Trajectory;
}

export interface TrainingData {
  data: readonly TracedDatum[];
  /** The same, one part for each optimiser step of a pass; parts with nothing to learn from are empty. */
  updates: readonly (readonly TracedDatum[])[];
  /** What became of every episode of the collection. */
  uses: readonly Omit<LearnedEpisode, 'sent'>[];
  /** Tokens whose advantage is not 0. */
  trainedTokens: number;
}

/**
 * Turns a collection into what the learner is given: every token the policy sampled, the ends of its turns
 * included, with the advantage of its episode and its weight in the step's loss.
 *
 * Episodes without advantage count in the weights' denominators. Without a KL term and an entropy bonus their
 * gradient is 0, so they are not sent.
 */
export function buildData(
  { groups, discarded }: Collection,
  algorithm: Pick<AlgorithmOptions, 'aggregation' | 'kl' | 'entropyBonus' | 'updatesPerBatch'>,
  rollout: Pick<RolloutOptions, 'maxTurns' | 'maxTurnTokens' | 'maxEpisodeTokens' | 'outcomes'>,
): TrainingData {
  const replaced = [...groups, ...discarded].flatMap((group) => group.replaced ?? []);
  const resampled = [...replaced, ...discarded.flatMap(({ trajectories }) => trajectories)].map(
    (trajectory) => ({ trajectory, use: failureUse(trajectory.outcome) ?? 'resampled' }),
  );
  const played = groups.flatMap(({ trajectories, advantages, selected, slot }, group) =>
    trajectories.map((trajectory, index) => {
      const booked = useOf(trajectory, advantages[index], rollout.outcomes);
      const isLeftOut = learned.has(booked) && selected?.[index] === false;
      const use = isLeftOut ? 'not-selected' : booked;
      const advantage = advantages[index];
      return {
        trajectory,
        use,
        group,
        slot: slot ?? group,
        ...(advantage !== undefined && { advantage }),
      };
    }),
  );
  const { updatesPerBatch } = algorithm;
  // By task: the agents of one teach in the same step.
  const slots = largest(
    played.map(({ slot }) => slot + 1),
    0,
  );
  const updates = Array.from({ length: updatesPerBatch }, (_, update) =>
    stepData(
      played.filter(({ slot }) => Math.floor((slot * updatesPerBatch) / slots) === update),
      algorithm,
      rollout,
    ),
  );
  const data = updates.flat();
  for (const traced of data) assertTrainedIsSampled(traced);
  const trained = data.map(({ datum }) => datum.advantages.filter((value) => value !== 0).length);
  return { data, updates, uses: [...resampled, ...played], trainedTokens: sum(trained) };
}

/** What episodes are booked as whose tokens have a weight. */
const learned: ReadonlySet<TokenUse> = new Set(['trained', 'zero-advantage']);

interface Played {
  trajectory: Trajectory;
  use: TokenUse;
  group: number;
  /** Of its task in the collection. */
  slot: number;
  advantage?: number;
}

/** What one optimiser step learns from: weights are those of the step. */
function stepData(
  played: readonly Played[],
  algorithm: Pick<AlgorithmOptions, 'aggregation' | 'kl' | 'entropyBonus'>,
  rollout: Pick<RolloutOptions, 'maxTurns' | 'maxTurnTokens' | 'maxEpisodeTokens'>,
): TracedDatum[] {
  const members = played.filter(({ use }) => learned.has(use));
  const masks = members.map(({ trajectory }) => maskOf(trajectory, 'sampled'));
  const { maxTurns, maxTurnTokens, maxEpisodeTokens } = rollout;
  const weights = tokenWeights(masks, {
    aggregation: algorithm.aggregation,
    maxTokensPerEpisode: mostSampledTokens({ maxTurns, maxTurnTokens, maxEpisodeTokens }),
    groups: members.map(({ group }) => group),
  });
  const pulls = algorithm.kl.kind !== 'none' || algorithm.entropyBonus !== 0;
  return members.flatMap(({ trajectory, advantage = 0 }, index) => {
    const weightsOfTokens = weights[index];
    if (weightsOfTokens === undefined || (advantage === 0 && !pulls)) return [];
    return [{ trajectory, datum: datumOf(trajectory, advantage, weightsOfTokens) }];
  });
}

function useOf(
  { outcome, learns }: Trajectory,
  advantage: number | undefined,
  outcomes: RolloutOptions['outcomes'],
): TokenUse {
  if (learns === false) return failureUse(outcome) ?? 'untrained';
  // One that the system failed has an advantage when it is penalised.
  if (advantage === undefined) return failureUse(outcome) ?? 'masked';
  if (actionOn(outcome, outcomes) === 'mask') return 'masked';
  return advantage === 0 ? 'zero-advantage' : 'trained';
}

/** Up to the last sampled token: what follows has no influence on those before, and may be long. */
function datumOf(trajectory: Trajectory, advantage: number, weights: Float32Array): TrainDatum {
  const end = weights.findLastIndex((weight) => weight !== 0) + 1;
  const kept = weights.subarray(0, end);
  const { taskId, sample, agent, step, place } = trajectory;
  return {
    episode: {
      taskId,
      sample,
      step,
      ...(agent !== undefined && { agent }),
      ...(place && { place }),
    },
    tokens: Int32Array.from(trajectory.tokens.slice(0, end)),
    weights: kept,
    advantages: kept.map((weight) => (weight === 0 ? 0 : advantage)),
    oldLogProbs: Float32Array.from(trajectory.logProbs.slice(0, end)),
  };
}

/**
 * Holds a datum against its episode: the tokens up to the last sampled one are the same, and those with a weight are
 * exactly those sampled.
 *
 * @throws Error otherwise: a bug.
 */
function assertTrainedIsSampled({ datum, trajectory }: TracedDatum): void {
  const sampled = maskOf(trajectory, 'sampled');
  const { tokens, weights } = datum;
  const differs = trajectory.tokens.findIndex((token, place) =>
    place < tokens.length
      ? tokens[place] !== token || (weights[place] !== 0) !== (sampled[place] === 1)
      : sampled[place] === 1,
  );
  if (differs === -1 && tokens.length <= trajectory.tokens.length) return;
  throw new Error(
    `Training data of task ${trajectory.taskId}, sample ${trajectory.sample} is not what was sampled, from token ${differs} on.`,
  );
}
