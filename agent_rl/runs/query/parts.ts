import { join } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import { groupBy } from '../../core/long-lists.ts';
import { isRecord } from '../../core/is-record.ts';
import { keyText, onlyAgent, type RolloutKey } from '../../core/rollout.ts';
import { drawnSpans } from '../../core/transcript.ts';
import type { Column, LearnedRecord, SentColumns } from '../episodes/learned-line.ts';
import { type EpisodeFile, type EpisodeRecord, readEpisodes } from '../episodes/read-episodes.ts';
import { readLines, type Unreadable } from '../episodes/read-lines.ts';
import type { RunFolder } from '../run-folder.ts';

/** One agent's part in a rollout, and what the update made of it. */
export interface RecordedPart {
  episode: EpisodeRecord;
  /** Absent of held-out tasks, and where there is no `learned.jsonl` or the line cannot be read. */
  learned?: LearnedRecord | undefined;
}

type Named = Omit<RolloutKey, 'run'> & { readonly agent: string };

/** `train/3/0/2/1`: what a part is called; the agent stands behind it unless it is the only one. */
export const partText = (part: Named): string =>
  part.agent === onlyAgent ? keyText(part) : `${keyText(part)}/${part.agent}`;

/** What is read of a run. */
export interface PartQuery {
  file: EpisodeFile;
  /** Also what the update made of each. */
  hasLearned?: boolean;
  /** Takes lines that cannot be read; without it such a line is an error. */
  unreadable?: Unreadable;
}

/**
 * Reads the parts of a run in the order they were written, one iteration or evaluation at a time.
 *
 * @yields the parts of one iteration or evaluation
 * @throws AgentRlError `DATASET_INVALID` when the files do not belong together, or a line cannot be read
 */
export async function* batchesOf(
  folder: Pick<RunFolder, 'trajectories'>,
  { file, hasLearned = false, unreadable }: PartQuery,
): AsyncGenerator<RecordedPart[]> {
  const learned = readLearned(folder, unreadable);
  let next = hasLearned ? await learned.next() : undefined;
  let held: EpisodeRecord[] = [];
  const joined = async (): Promise<RecordedPart[]> => {
    const byName = new Map<string, LearnedRecord>();
    while (next?.done === false && next.value.iteration <= (held[0]?.iteration ?? 0)) {
      byName.set(partText(next.value), next.value);
      next = await learned.next();
    }
    const parts = held.map((episode) => ({ episode, learned: byName.get(partText(episode)) }));
    const isWhole = byName.size === 0 || parts.every((one) => one.learned) || next?.done === true;
    const found = parts.filter((one) => one.learned).length;
    if ((!isWhole || found < byName.size) && !(unreadable && unreadable.count > 0))
      throw apart(folder, held[0]?.iteration);
    return parts;
  };
  try {
    for await (const episode of readEpisodes(folder, file, unreadable)) {
      const [first = episode] = held;
      if (first.iteration !== episode.iteration || first.when !== episode.when) {
        yield await joined();
        held = [];
      }
      held.push(episode);
    }
    if (held.length > 0) yield await joined();
  } finally {
    await learned.return(undefined);
  }
}

async function* readLearned(
  { trajectories }: Pick<RunFolder, 'trajectories'>,
  unreadable: Unreadable | undefined,
): AsyncGenerator<LearnedRecord> {
  const file = join(trajectories, 'learned.jsonl');
  for await (const { record } of readLines(file, learnedOf, unreadable)) yield record;
}

/** A line of `learned.jsonl`. @throws Error for any other line */
export function learnedOf(line: string): LearnedRecord {
  const record: unknown = JSON.parse(line);
  if (isRecord(record) && typeof record['taskId'] === 'string' && typeof record['use'] === 'string')
    return record as unknown as LearnedRecord;
  throw new Error('it does not say how an episode ended');
}

const apart = ({ trajectories }: Pick<RunFolder, 'trajectories'>, iteration?: number) =>
  new AgentRlError(
    'DATASET_INVALID',
    `${trajectories}: train.jsonl and learned.jsonl have different rollouts in iteration ${iteration}. Their lines must match: restore the file that was changed.`,
  );

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
