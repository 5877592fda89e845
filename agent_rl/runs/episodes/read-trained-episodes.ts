import { AgentRlError } from '../../core/errors.ts';
import { keyText, type RolloutKey } from '../../core/rollout.ts';
import type { RunFolder } from '../run-folder.ts';
import type { LearnedRecord } from './learned-line.ts';
import { type EpisodeRecord, readEpisodes } from './read-episodes.ts';
import { readLearned } from './read-learned.ts';
import type { Unreadable } from './unreadable.ts';

/** One agent's part in a training rollout, and what the update made of it. */
export interface TrainedEpisode {
  episode: EpisodeRecord;
  /** Absent where there is no `learned.jsonl`, or the line cannot be read. */
  learned?: LearnedRecord | undefined;
}

/**
 * Reads the training episodes of a run with what was learned of each.
 *
 * @param unreadable takes lines that cannot be read; without it such a line is an error
 * @yields one episode
 * @throws AgentRlError `DATASET_INVALID` when the files do not belong together, or a line cannot be read
 */
export async function* readTrainedEpisodes(
  folder: Pick<RunFolder, 'trajectories'>,
  unreadable?: Unreadable,
): AsyncGenerator<TrainedEpisode> {
  // Lines that were left out, whose other halves have yet to come.
  const missing = { train: 0, learned: 0 };
  const told = (file: 'train' | 'learned') =>
    unreadable &&
    ((text: string) => {
      missing[file] += 1;
      unreadable.add(text);
    });
  const learnedLines = readLearned(folder, told('learned'));
  let next = await learnedLines.next();
  try {
    for await (const episode of readEpisodes(folder, 'train', told('train'))) {
      while (missing.train > 0 && next.done !== true && isOther(episode, next.value)) {
        missing.train -= 1;
        next = await learnedLines.next();
      }
      if (next.done === true || episode.iteration < next.value.iteration) {
        yield { episode };
        continue;
      }
      if (missing.learned > 0 && isOther(episode, next.value)) {
        missing.learned -= 1;
        yield { episode };
        continue;
      }
      requireSame(folder, episode, next.value);
      yield { episode, learned: next.value };
      next = await learnedLines.next();
    }
  } finally {
    await learnedLines.return(undefined);
  }
}

const nameOf = (record: Pick<LearnedRecord, keyof RolloutKey | 'agent'>): string =>
  `${keyText(record)}/${record.agent}`;

const isOther = (episode: EpisodeRecord, learned: LearnedRecord): boolean =>
  nameOf(episode) !== nameOf(learned);

function requireSame(
  { trajectories }: Pick<RunFolder, 'trajectories'>,
  episode: EpisodeRecord,
  learned: LearnedRecord,
): void {
  const [one, other] = [nameOf(episode), nameOf(learned)];
  if (one === other) return;
  throw new AgentRlError(
    'DATASET_INVALID',
    `${trajectories}: train.jsonl has rollout ${one} where learned.jsonl has ${other}. They are written line by line beside one another: put back what was changed.`,
  );
}
