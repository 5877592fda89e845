import type { Advantage } from '../core/algorithm/advantage.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import { keyText, type Member } from '../core/rollout.ts';
import type { TranscriptRecord } from '../core/transcript.ts';
import type { TokenUse } from '../rollout/tokens/ledger.ts';
import { type Collection, membersIn } from './collect/collection.ts';

/** A sequence as the learner received it, and its results. Arrays have one entry per token. */
export interface SentSequence {
  /** With the correction's changes and the reference's log-probabilities, if any. */
  datum: TrainDatum;
  /** Optimiser step of a pass that it was part of, from 0. */
  update: number;
  /** Under the weights of the first pass, before its step, in nats. */
  logProbs: Float32Array;
  /** The same in the last pass; equal to the first if there is only one. */
  lastLogProbs: Float32Array;
}

/** How one agent's part was used in its iteration. */
export interface BookedPart extends Member {
  use: TokenUse;
  /** Its advantage over its group, or that of each of its turns; absent if it was not compared. */
  advantage: Advantage | undefined;
  /** A teacher judged its tokens. */
  isTaught?: boolean | undefined;
}

export interface LearnedPart extends BookedPart {
  /** One per sequence; absent if it was not sent to the learner. */
  sent: readonly (SentSequence | undefined)[];
}

/** Joins the use of every part of a collection, in order, with the learner's data and results. */
export function learnedParts(
  collection: Collection,
  { uses }: { uses: readonly BookedPart[] },
  { sent }: { sent: ReadonlyMap<TranscriptRecord, SentSequence> },
): LearnedPart[] {
  const useOf = new Map(uses.map((one) => [one.part, one]));
  return membersIn(collection).map(({ rollout, part }) => {
    const booked = useOf.get(part);
    if (booked === undefined)
      throw new Error(
        `Rollout ${keyText(rollout.key)} of task ${rollout.taskId} has no ledger bucket.`,
      );
    return Object.assign({}, booked, {
      sent: part.sequences.map((sequence) => sent.get(sequence)),
    });
  });
}
