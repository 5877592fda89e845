import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../../core/errors.ts';
import { isRecord } from '../../../core/is-record.ts';
import { writeFileAtomic } from '../../../telemetry/index.ts';
import { Unreadable } from '../../episodes/read-lines.ts';
import { type EventPlace, type JournalMark, journalStart } from '../../journal/event-store.ts';
import type { RunFolder } from '../../run-folder.ts';
import type { IndexedEpisode } from './episode-row.ts';

/** All that was read of a run's journal. */
export interface IndexContents {
  mark: JournalMark;
  episodes: IndexedEpisode[];
  /** What was drawn in rollouts that have not ended, by the rollout's key. */
  pending: Record<string, EventPlace[]>;
  unreadable: Unreadable;
}

export const emptyIndex = (): IndexContents => ({
  mark: journalStart,
  episodes: [],
  pending: {},
  unreadable: new Unreadable(),
});

/** Another number where rows or marks change. */
const schema = 3;

const cacheFile = ({ journal }: RunFolder): string => join(journal, 'view-index.json');

/** The index that an earlier viewer left beside the journal. It is only a beginning: the reader reads on behind its mark. */
export function readIndexCache(folder: RunFolder): IndexContents | undefined {
  const file = cacheFile(folder);
  if (!existsSync(file)) return undefined;
  try {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isRecord(stored) || stored['schema'] !== schema) return undefined;
    const {
      schema: _,
      unreadable,
      ...contents
    } = stored as unknown as IndexContents & {
      schema: number;
    };
    return { ...contents, unreadable: Object.assign(new Unreadable(), unreadable) };
  } catch {
    // Cut off, or of another program: the journal itself is read.
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
