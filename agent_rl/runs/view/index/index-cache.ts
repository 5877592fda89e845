import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../../core/errors.ts';
import { isRecord } from '../../../core/is-record.ts';
import { writeFileAtomic } from '../../../telemetry/index.ts';
import { Unreadable } from '../../episodes/read-lines.ts';
import type { RunFolder } from '../../run-folder.ts';
import type { EpisodeFile } from '../../episodes/read-episodes.ts';
import type { IndexedEpisode } from './episode-row.ts';
import { type FileMark, nothingRead } from './indexed-file.ts';

export const indexedFiles = ['train', 'eval', 'learned'] as const;
/** Of `trajectories/`, without its ending. */
export type IndexedFile = (typeof indexedFiles)[number];

/** All that was read of a run's records. */
export interface IndexContents {
  marks: Record<IndexedFile, FileMark>;
  episodes: Record<EpisodeFile, IndexedEpisode[]>;
  unreadable: Unreadable;
}

export const emptyIndex = (): IndexContents => ({
  marks: { train: nothingRead, eval: nothingRead, learned: nothingRead },
  episodes: { train: [], eval: [] },
  unreadable: new Unreadable(),
});

/** Another number where rows or marks change. */
const schema = 2;

const cacheFile = ({ trajectories }: RunFolder): string => join(trajectories, 'view-index.json');

/**
 * The index that an earlier viewer left beside the records. It is only a beginning: the reader compares its marks with
 * the files.
 */
export function readIndexCache(folder: RunFolder): IndexContents | undefined {
  const file = cacheFile(folder);
  if (!existsSync(file)) return undefined;
  try {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isRecord(stored) || stored['schema'] !== schema) return undefined;
    const { marks, episodes, unreadable } = stored as unknown as IndexContents;
    const lines = Object.assign(new Unreadable(), unreadable);
    return { marks, episodes, unreadable: lines };
  } catch {
    // Cut off, or of another program: the records themselves are read.
    return undefined;
  }
}

/** @returns why it could not be written, if so: the folder may be read-only, and nothing depends on it */
export function writeIndexCache(folder: RunFolder, contents: IndexContents): string | undefined {
  try {
    writeFileAtomic(cacheFile(folder), JSON.stringify({ schema, ...contents }));
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}
