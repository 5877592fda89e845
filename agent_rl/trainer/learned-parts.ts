import type { TrainDatum } from '../core/services/batch.ts';
import { keyText, type Member } from '../core/rollout.ts';
import type { TranscriptRecord } from '../core/transcript.ts';
import type { TokenUse } from '../rollout/tokens/ledger.ts';
import { type Collection, membersIn } from './collect/collection.ts';

/** A sequence as the learner was given it, and what it made of it. Arrays have one entry per token. */
export interface SentSequence {
  /** With what a correction made of it and the reference's log-probabilities, where there are any. */
  datum: TrainDatum;
  /** Optimiser step of a pass that it was part of, from 0. */
  update: number;
  /** Under the weights of the first pass, before its step, in nats. */
  logProbs: Float32Array;
  /** The same of the last pass: those of the first where there is one pass. */
  lastLogProbs: Float32Array;
}

/** What became of one agent's part in the iteration that it was collected for. */
export interface BookedPart extends Member {
  use: TokenUse;
  /** By how much it was better than its group; absent where it was not compared. */
  advantage: number | undefined;
}

export interface LearnedPart extends BookedPart {
  /** One for each of its sequences; absent where it was not sent to the learner. */
  sent: readonly (SentSequence | undefined)[];
}

/** Joins what became of every part of a collection, in its order, with what the learner saw of it. */
export function learnedParts(
  collection: Collection,
  { uses }: { uses: readonly BookedPart[] },
  { sent }: { sent: ReadonlyMap<TranscriptRecord, SentSequence> },
): LearnedPart[] {
  const useOf = new Map(uses.map((one) => [one.part, one]));
  return membersIn(collection).map(({ rollout, part }) => {
    const booked = useOf.get(part);
    if (booked === undefined)
      throw new Error(`Rollout ${keyText(rollout.key)} of task ${rollout.taskId} is in no bucket.`);
    return Object.assign({}, booked, {
      sent: part.sequences.map((sequence) => sent.get(sequence)),
    });
  });
}
