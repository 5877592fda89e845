import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import type { Failure } from '../../core/failure.ts';
import { isRecord } from '../../core/is-record.ts';
import type { Message } from '../../core/message.ts';
import { requireSchema } from '../../core/services/batch.ts';
import type {
  FailedAttempt,
  GroupReward,
  JudgedBy,
  Part,
  Rollout,
  RolloutKey,
} from '../../core/rollout.ts';
import { notARun, type RunFolder, runFolderAt } from '../run-folder.ts';
import { readLines, Unreadable } from './read-lines.ts';

/** A line of `trajectories/*.jsonl`: one agent's part in a rollout. */
export interface EpisodeRecord
  extends
    RolloutKey,
    Pick<Rollout, 'taskId' | 'step' | 'seed'>,
    Pick<
      Part,
      | 'agent'
      | 'policy'
      | 'learns'
      | 'sequences'
      | 'outcome'
      | 'success'
      | 'turns'
      | 'components'
      | 'scores'
      | 'metrics'
      | 'malformedCalls'
      | 'retries'
      | 'cutTokens'
      | 'seconds'
    > {
  schema: number;
  /** Absent in records of earlier versions. */
  undelivered?: Part['undelivered'] | undefined;
  requests?: Part['requests'];
  slice: string | null;
  reward: number | null;
  answer: string | null;
  unpaid: Readonly<Record<string, number>> | null;
  sandboxLevel: string | null;
  failure: Failure | null;
  messages: readonly Message[];
  judgedBy: JudgedBy | null;
  groupReward: GroupReward | null;
  toolCalls: readonly {
    id: string;
    name: string;
    arguments: unknown;
    status: string;
    content: string;
    wallMs: number;
    problem?: string | undefined;
  }[];
  problem: string | null;
  failedAttempts: readonly FailedAttempt[];
  hidden: Readonly<Record<string, unknown>>;
}

/** `train` for what was learned from, `eval` for held-out tasks. */
export type EpisodeFile = 'train' | 'eval';

/** The folder of a run that recorded episodes. @throws AgentRlError `CHECKPOINT_INVALID` */
export function runWithEpisodes(run: string): RunFolder {
  const path = resolve(run);
  const folder = runFolderAt(path);
  if (existsSync(folder.trajectories)) return folder;
  if (existsSync(folder.config))
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${path} has no episodes (trajectories/): it is a supervised run, or it ended before its first episode. Its metrics are in metrics.jsonl.`,
    );
  throw notARun(path, 'trajectories/');
}

/**
 * Reads a run's episodes, in the order they were written.
 *
 * @param unreadable takes lines that cannot be read, which are then left out; without it such a line is an error
 * @yields one part
 * @throws AgentRlError `DATASET_INVALID` for a line that is not a record of this version, with its place. A last line that is cut short is left
 * out: the run is still writing it, or was killed.
 */
export async function* readEpisodes(
  { trajectories }: Pick<RunFolder, 'trajectories'>,
  name: EpisodeFile,
  unreadable?: Unreadable,
): AsyncGenerator<EpisodeRecord> {
  const lines = readLines(join(trajectories, `${name}.jsonl`), episodeOf, unreadable);
  for await (const { record: episode, place } of lines) {
    requireSchema(episode, place);
    yield episode;
  }
}

/** @throws AgentRlError `DATASET_INVALID` where a run's records are in the form of another version, with the place */
export async function requireReadable(folder: Pick<RunFolder, 'trajectories'>): Promise<void> {
  for (const name of ['train', 'eval'] as const)
    for await (const _ of readEpisodes(folder, name, new Unreadable())) break;
}

function episodeOf(line: string): EpisodeRecord {
  const record: unknown = JSON.parse(line);
  if (isRecord(record) && typeof record['taskId'] === 'string')
    return record as unknown as EpisodeRecord;
  throw new Error('it is not an episode');
}
