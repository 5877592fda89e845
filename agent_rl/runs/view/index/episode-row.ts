import { isRecord } from '../../../core/is-record.ts';
import { sampledTokens } from '../../../core/rollout.ts';
import { requireSchema } from '../../../core/services/batch.ts';
import type { EpisodeFile, EpisodeRecord } from '../../episodes/read-episodes.ts';
import { partText } from '../../query/parts.ts';
import type { EpisodeLine, EpisodeRow } from '../api.ts';

/** A row and where its line is. What `learned.jsonl` says of it is joined later. */
export interface IndexedEpisode {
  row: EpisodeRow;
  set: EpisodeFile;
  /** From 0. */
  line: number;
  offset: number;
  bytes: number;
  /** Its line of `learned.jsonl`; absent without one. */
  learned?: { offset: number; bytes: number };
}

const mostQuestion = 120;

/** @throws Error for a line that is no episode, AgentRlError `DATASET_INVALID` for one of another version */
export function episodeOf(bytes: Buffer, place: string): EpisodeLine & EpisodeRecord {
  const record: unknown = JSON.parse(bytes.toString());
  if (!isRecord(record) || typeof record['taskId'] !== 'string')
    throw new Error('it is not an episode');
  requireSchema(record as { schema: unknown }, place);
  const missing = ['sequences', 'messages', 'toolCalls'].find(
    (name) => !Array.isArray(record[name]),
  );
  if (missing !== undefined) throw new Error(`its ${missing} are not a list`);
  return record as unknown as EpisodeLine & EpisodeRecord;
}

/** The columns of an episode, without what the update made of it. */
export function rowOf(record: EpisodeLine & EpisodeRecord): EpisodeRow {
  const { when, iteration, round, slot, sample, agent, taskId, messages, toolCalls } = record;
  const { outcome, success, reward, turns, slice, seconds, malformedCalls } = record;
  const question = messages.find(({ role }) => role === 'user')?.content ?? '';
  return {
    id: partText(record),
    when,
    iteration,
    taskId,
    sample,
    agent,
    outcome,
    success,
    reward,
    turns,
    calls: toolCalls.length,
    toolNames: [...new Set(toolCalls.map(({ name }) => name))],
    errors: toolCalls.filter(({ status }) => status !== 'ok').length + malformedCalls,
    sampledTokens: sampledTokens(record),
    seconds: Object.values(seconds).reduce((sum, one) => sum + one, 0),
    slice,
    group: [when, iteration, round, slot, agent].join('/'),
    question: question.slice(0, mostQuestion).replaceAll(/\s+/g, ' '),
  };
}
