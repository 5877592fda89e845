import { sum } from '../algorithms/statistics.ts';
import { tokenWeights } from '../algorithms/token-weights.ts';
import { type Advantage, isZero } from '../core/algorithm/advantage.ts';
import { keyText, type Member, type Part } from '../core/rollout.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import { drawnMasks, drawnSpans, type TranscriptRecord } from '../core/transcript.ts';
import { failureUse, type TokenUse } from '../rollout/tokens/ledger.ts';
import type { Collection, Group } from './collect/collection.ts';
import { actionOn } from './collect/outcome-actions.ts';
import type { BookedPart } from './learned-parts.ts';
import { type Encode, hintFor } from './steps/hint.ts';
import {
  type AlgorithmOptions,
  mostSampledTokens,
  type RolloutOptions,
} from './training-options.ts';

/** A datum and its source. */
export interface TracedDatum extends Member {
  sequence: TranscriptRecord;
  datum: TrainDatum;
  /** Tokens that only the teacher reads, see `algorithm.distill.hint`. */
  hint?: readonly number[] | undefined;
}

export interface TrainingData {
  data: readonly TracedDatum[];
  /** The same, one part for each optimiser step of a pass, of all policies; parts with nothing to learn from are empty. */
  updates: readonly (readonly TracedDatum[])[];
  /** The use of every part of the collection. */
  uses: readonly BookedPart[];
  /** Tokens whose advantage is not 0. */
  trainedTokens: number;
}

/**
 * Turns a collection into the learner's data: every sampled token, including ends of turns, with the advantage of its
 * part or turn and its weight in the step's loss. A token shared by several sequences of a part is trained in the first of
 * them.
 *
 * Parts without advantage count in the weights' denominators. Without a KL term, an entropy bonus and a teacher their
 * gradient is 0, so they are not sent.
 */
export function buildData(
  { groups, discarded }: Collection,
  algorithm: Pick<
    AlgorithmOptions,
    'aggregation' | 'kl' | 'distill' | 'entropyBonus' | 'updatesPerBatch'
  >,
  rollout: Pick<RolloutOptions, 'maxTurns' | 'maxTurnTokens' | 'maxEpisodeTokens' | 'outcomes'>,
  encode: Encode = () => [],
): TrainingData {
  const replaced = [...groups, ...discarded].flat().flatMap((group) => group.replaced);
  const resampled = [...replaced, ...discarded.flat().flatMap(({ members }) => members)].map(
    ({ rollout: one, part }): BookedPart => {
      const use = failureUse(part.outcome) ?? 'resampled';
      return { rollout: one, part, use, advantage: undefined };
    },
  );
  const played = groups.map((agents) =>
    agents.flatMap((group) =>
      bookedIn(group, { outcomes: rollout.outcomes, distill: algorithm.distill, encode }),
    ),
  );
  // By task: the agents of a task are trained in the same step.
  const { updatesPerBatch } = algorithm;
  const updates = Array.from({ length: updatesPerBatch }, (_, update) =>
    byPolicy(
      played.flatMap((own, slot) =>
        Math.floor((slot * updatesPerBatch) / played.length) === update ? own : [],
      ),
    ).flatMap((own) => stepData(own, algorithm, rollout)),
  );
  const data = updates.flat();
  for (const traced of data) assertTrainedIsSampled(traced);
  const trained = data.map(({ datum }) => datum.advantages.filter((value) => value !== 0).length);
  return { data, updates, uses: [...resampled, ...played.flat()], trainedTokens: sum(trained) };
}

/** Uses whose tokens are trained on. */
const learned: ReadonlySet<TokenUse> = new Set(['trained', 'zero-advantage', 'distilled']);

interface Played extends BookedPart {
  group: Group;
  hint: readonly number[] | undefined;
}

const bookedIn = (
  group: Group,
  {
    outcomes,
    distill,
    encode,
  }: Pick<RolloutOptions, 'outcomes'> & Pick<AlgorithmOptions, 'distill'> & { encode: Encode },
): Played[] =>
  group.members.map(({ rollout, part }, index) => {
    const from = { task: group.task, part, group: group.members.map((one) => one.part) };
    const hint = distill?.hint === undefined ? undefined : hintFor(distill.hint, encode, from);
    const isTaught = distill !== undefined && (distill.hint === undefined || hint !== undefined);
    const advantage = weighed(group.advantages[index], distill?.advantageWeight);
    const own = useOf(part, advantage, outcomes);
    const booked = isTaught && own === 'zero-advantage' ? 'distilled' : own;
    const isLeftOut = learned.has(booked) && group.selected?.[index] === false;
    const use = isLeftOut ? 'not-selected' : booked;
    return { rollout, part, use, advantage, isTaught, group, hint };
  });

const weighed = (advantage: Advantage | undefined, weight = 1): Advantage | undefined =>
  typeof advantage === 'object'
    ? advantage.map((one) => weight * one)
    : advantage && weight * advantage;

/** Each policy takes a step of its own, whose weights add up without the others. */
const byPolicy = (played: readonly Played[]): Played[][] =>
  [...new Set(played.map(({ part }) => part.policy))].map((policy) =>
    played.filter(({ part }) => part.policy === policy),
  );

/** The data of one optimiser step of a policy: weights are per step, and all sequences of a part count as one. */
function stepData(
  played: readonly Played[],
  algorithm: Pick<AlgorithmOptions, 'aggregation' | 'kl' | 'entropyBonus'>,
  rollout: Pick<RolloutOptions, 'maxTurns' | 'maxTurnTokens' | 'maxEpisodeTokens'>,
): TracedDatum[] {
  const members = played.filter(({ use }) => learned.has(use));
  const groups = [...new Set(members.map(({ group }) => group))];
  const weights = tokenWeights(
    members.map(({ part }) => joined(drawnMasks(part.sequences))),
    {
      aggregation: algorithm.aggregation,
      maxTokensPerEpisode: mostSampledTokens(rollout),
      groups: members.map(({ group }) => groups.indexOf(group)),
    },
  );
  const { kl, entropyBonus } = algorithm;
  const pulls = kl.kind !== 'none' || entropyBonus !== 0;
  return members.flatMap((member, index) => {
    const { advantage = 0, isTaught, hint } = member;
    const own = weights[index];
    return own === undefined || (isZero(advantage) && !pulls && isTaught !== true)
      ? []
      : dataOf(member, advantage, own).map((one) => Object.assign(one, { hint }));
  });
}

function joined(masks: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = masks;
  return first !== undefined && others.length === 0
    ? first
    : Uint8Array.from(masks.flatMap((mask) => Array.from(mask)));
}

function useOf(
  { outcome, learns }: Part,
  advantage: Advantage | undefined,
  outcomes: RolloutOptions['outcomes'],
): TokenUse {
  if (!learns) return failureUse(outcome) ?? 'untrained';
  // A system failure has an advantage if it is penalised.
  if (advantage === undefined) return failureUse(outcome) ?? 'masked';
  if (actionOn(outcome, outcomes) === 'mask') return 'masked';
  return isZero(advantage) ? 'zero-advantage' : 'trained';
}

/** The advantage of each sampled token of a part, in its first sequence; 0 elsewhere. */
function tokenAdvantages(
  sequences: readonly TranscriptRecord[],
  advantage: Advantage,
): Float32Array[] {
  let turn = 0;
  return drawnSpans(sequences).map((spans, index) => {
    const own = new Float32Array(sequences[index]?.tokens.length ?? 0);
    for (const { start, end } of spans)
      own.fill(typeof advantage === 'number' ? advantage : advantage[turn++]!, start, end);
    return own;
  });
}

/** The sequences of a part in which tokens have a weight. */
function dataOf(
  { rollout, part }: Member,
  advantage: Advantage,
  weights: Float32Array,
): TracedDatum[] {
  const { key, taskId, step } = rollout;
  const advantages = tokenAdvantages(part.sequences, advantage);
  let start = 0;
  return part.sequences.flatMap((sequence, index) => {
    const whole = weights.subarray(start, start + sequence.tokens.length);
    start += sequence.tokens.length;
    // Up to the last trained token: later tokens have no influence on it, and may be many.
    const end = whole.findLastIndex((weight) => weight !== 0) + 1;
    if (end === 0) return [];
    const kept = whole.subarray(0, end);
    const datum = {
      from: { key, agent: part.agent, sequence: index, taskId, step },
      tokens: Int32Array.from(sequence.tokens.slice(0, end)),
      weights: kept,
      advantages: advantages[index]!.subarray(0, end),
      oldLogProbs: Float32Array.from(sequence.logProbs.slice(0, end)),
    };
    return [{ rollout, part, sequence, datum }];
  });
}

/**
 * Checks a datum against its sequence: the tokens up to the last trained one are the same, and exactly the sampled
 * tokens have a weight, each in the first sequence that contains it.
 *
 * @throws Error otherwise: a bug.
 */
function assertTrainedIsSampled({ datum, rollout, part, sequence }: TracedDatum): void {
  const sampled = drawnMasks(part.sequences)[part.sequences.indexOf(sequence)];
  const { tokens, weights } = datum;
  const differs = sequence.tokens.findIndex((token, place) =>
    place < tokens.length
      ? tokens[place] !== token || (weights[place] !== 0) !== (sampled?.[place] === 1)
      : sampled?.[place] === 1,
  );
  if (differs === -1 && tokens.length <= sequence.tokens.length) return;
  throw new Error(
    `Training data of rollout ${keyText(rollout.key)} of task ${rollout.taskId} differs from the sampled sequence, starting at token ${differs}.`,
  );
}

/** The same updates with every datum changed. @param index among the data of all updates */
export function withData(
  updates: readonly (readonly TracedDatum[])[],
  change: (datum: TrainDatum, index: number) => TrainDatum,
): TracedDatum[][] {
  let index = 0;
  return updates.map((update) =>
    update.map((one) => Object.assign({}, one, { datum: change(one.datum, index++) })),
  );
}
