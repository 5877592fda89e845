import type { TrainDatum } from '../core/services/batch.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { TokenUse } from '../rollout/tokens/ledger.ts';
import { type Collection, trajectoriesOf } from './collect/collect-groups.ts';

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

/** What became of an episode, or of one agent's part in it, in the iteration that it was collected for. */
export interface LearnedEpisode {
  trajectory: Trajectory;
  use: TokenUse;
  /** By how much it was better than its group; absent where it was not compared. */
  advantage?: number;
  /** Absent where it was not sent to the learner. */
  sent?: SentSequence;
}

/** Joins what became of every episode of a collection, in its order, with what the learner saw of it. */
export function learnedEpisodes(
  collection: Collection,
  { uses }: { uses: readonly Omit<LearnedEpisode, 'sent'>[] },
  { sent: sequences }: { sent: ReadonlyMap<Trajectory, SentSequence> },
): LearnedEpisode[] {
  const useOf = new Map(uses.map((one) => [one.trajectory, one]));
  return trajectoriesOf(collection).map((trajectory) => {
    const booked = useOf.get(trajectory);
    if (booked === undefined)
      throw new Error(`Task ${trajectory.taskId}, sample ${trajectory.sample} is in no bucket.`);
    const sent = sequences.get(trajectory);
    return sent === undefined ? booked : Object.assign({ sent }, booked);
  });
}
