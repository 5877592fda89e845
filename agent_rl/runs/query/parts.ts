import { groupBy } from '../../core/long-lists.ts';
import { keyText, onlyAgent, type RolloutKey } from '../../core/rollout.ts';
import { drawnSpans } from '../../core/transcript.ts';
import type { Column, SentColumns } from '../episodes/learned-record.ts';
import type { JournalPart } from '../journal/read-journal.ts';

export { episodesOf as batchesOf } from '../episodes/read-episodes.ts';

/** One agent's part in a rollout, and what the update made of it; that is absent of held-out tasks, and where it cannot be read. */
export type RecordedPart = Pick<JournalPart, 'episode'> & Partial<JournalPart>;

type Named = Omit<RolloutKey, 'run'> & { readonly agent: string };

/** `train/3/0/2/1`: what a part is called; the agent stands behind it unless it is the only one. */
export const partText = (part: Named): string =>
  part.agent === onlyAgent ? keyText(part) : `${keyText(part)}/${part.agent}`;

/** The parts of each rollout together, in the order in which rollouts first occur. */
export const rolloutsIn = <One extends Named>(parts: readonly One[]): One[][] => [
  ...groupBy(parts, keyText).values(),
];

/** A value of a column, which is one number where it is the same throughout. */
export const columnAt = (column: Column, index: number): number =>
  typeof column === 'number' ? column : (column[index] ?? Number.NaN);

/** A token that was sent to the learner. */
export interface SentToken {
  tokens: readonly number[];
  /** Its index in the sequence. */
  place: number;
  advantage: number;
  weight: number;
  /** Under the learner's weights before the first pass, in nats. */
  logProb: number;
}

/** Every token that the update trained of a part. */
export const sentTokens = ({ episode, learned }: RecordedPart): SentToken[] =>
  drawnSpans(episode.sequences).flatMap((spans, index) => {
    const sent: SentColumns | null = learned?.sent[index] ?? null;
    const { tokens } = episode.sequences[index] ?? { tokens: [] };
    if (sent === null) return [];
    const places = spans.flatMap(({ start, end }) =>
      Array.from({ length: end - start }, (_, at) => start + at),
    );
    return places.map((place, at) => ({
      tokens,
      place,
      advantage: columnAt(sent.advantages, at),
      weight: columnAt(sent.weights, at),
      logProb: columnAt(sent.logProbs, at),
    }));
  });
