import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import { showValue } from '../../core/show-value.ts';
import { type JournalPart, readParts } from '../journal/read-journal.ts';
import { journalSchema, sessionsOf } from '../journal/sessions.ts';
import type { EpisodeRecord } from './episode-record.ts';
import { notARun, type RunFolder, runFolderAt } from '../run-folder.ts';
import type { Unreadable } from './read-lines.ts';

export type { EpisodeRecord };

/** `train` for what was learned from, `eval` for held-out tasks. */
export type EpisodeFile = 'train' | 'eval';

/** The folder of a run that recorded episodes. @throws AgentRlError `CHECKPOINT_INVALID` */
export function runWithEpisodes(run: string): RunFolder {
  const path = resolve(run);
  const folder = runFolderAt(path);
  if (existsSync(folder.journal)) return folder;
  if (existsSync(join(path, 'trajectories')))
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${path} was recorded by an earlier version (trajectories/ instead of journal/). Use the version of agent_rl that wrote it.`,
    );
  if (existsSync(folder.config))
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${path} has no episodes (journal/): it ended before its first. Its metrics are in metrics.jsonl.`,
    );
  throw notARun(path, 'journal/');
}

/** What is read of a journal. */
export interface EpisodeQuery {
  file: EpisodeFile;
  /** Also an iteration or evaluation under way. */
  unfinished?: boolean | undefined;
  /** Takes what cannot be read, which is then left out; without it such an event is an error. */
  unreadable?: Unreadable | undefined;
}

/**
 * Reads the parts of a run in the order of their keys, one iteration or evaluation at a time.
 *
 * @yields the parts of one iteration or evaluation
 * @throws AgentRlError `DATASET_INVALID` for an event that cannot be read, or for a journal of another version
 */
export async function* episodesOf(
  folder: Pick<RunFolder, 'journal'>,
  { file, unfinished, unreadable }: EpisodeQuery,
): AsyncGenerator<JournalPart[]> {
  await requireReadable(folder);
  const damaged = (problem: string): void => {
    if (unreadable === undefined) throw damage(problem);
    unreadable.add(problem);
  };
  yield* readParts(folder.journal, { file, unfinished, damaged });
}

const damage = (problem: string): AgentRlError =>
  new AgentRlError(
    'DATASET_INVALID',
    `The journal of the run is damaged: ${problem}. Restore the file from a backup; training and resuming work without what it lacks.`,
  );

/** @throws AgentRlError `DATASET_INVALID` where a run's journal is in the form of another version */
export async function requireReadable({ journal }: Pick<RunFolder, 'journal'>): Promise<void> {
  const [first] = await sessionsOf(journal, () => undefined);
  if (first === undefined || first.schema === journalSchema) return;
  const form =
    first.schema > journalSchema
      ? 'by a newer version, in a format that this version cannot read'
      : 'by an older version, in a format that is no longer supported';
  throw new AgentRlError(
    'DATASET_INVALID',
    `${journal} was recorded ${form} (schema ${showValue(first.schema)}; this version reads ${journalSchema}). Use the version of agent_rl that wrote it.`,
  );
}
