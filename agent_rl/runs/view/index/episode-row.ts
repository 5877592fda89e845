import { isRecord } from '../../../core/is-record.ts';
import { requireSchema } from '../../../core/services/batch.ts';
import type { EpisodeRecord } from '../../episodes/read-episodes.ts';
import type { EpisodeRow, EpisodeSet } from '../api.ts';

/** A row and where its line is. What `learned.jsonl` says of it is joined later. */
export interface IndexedEpisode {
  row: EpisodeRow;
  set: EpisodeSet;
  /** From 0. */
  line: number;
  offset: number;
  bytes: number;
  /** Its line of `learned.jsonl`; absent where there is none. */
  learned?: { offset: number; bytes: number };
}

const mostQuestion = 120;

/** What a line holds besides what `EpisodeRecord` has. */
export interface EpisodeLine extends EpisodeRecord {
  place?: { iteration: number; round: number; slot: number } | null;
  seconds?: Readonly<Record<string, number>>;
}

/** @throws Error for a line that is no episode, AgentRlError `DATASET_INVALID` for one of another version */
export function episodeOf(bytes: Buffer, place: string): EpisodeLine {
  const record: unknown = JSON.parse(bytes.toString());
  const lists = ['tokens', 'spans', 'logProbs', 'messages', 'toolCalls'];
  if (!isRecord(record) || typeof record['taskId'] !== 'string')
    throw new Error('it is no episode');
  const missing = lists.find((name) => !Array.isArray(record[name]));
  if (missing !== undefined) throw new Error(`its ${missing} are no list`);
  requireSchema(record as { schema: unknown }, place);
  return record as unknown as EpisodeLine;
}

/** The columns of an episode, without what the update made of it. */
export function rowOf(record: EpisodeLine, set: EpisodeSet): EpisodeRow {
  const { taskId, sample, agent, iteration, toolCalls, outcome, success, reward } = record;
  return {
    id: idOf(record),
    set,
    when: record.when ?? null,
    iteration,
    taskId,
    sample,
    agent: agent ?? null,
    outcome,
    success,
    reward: reward ?? null,
    turns: record.turns,
    calls: toolCalls.length,
    toolNames: [...new Set(toolCalls.map(({ name }) => name))],
    errors: toolCalls.filter(({ status }) => status !== 'ok').length + (record.malformedCalls ?? 0),
    sampledTokens: sampledTokens(record),
    seconds: secondsOf(record),
    slice: record.slice ?? null,
    group: groupOf(record),
    question: questionOf(record),
  };
}

const idOf = ({ when = 'train', iteration, taskId, sample, agent }: EpisodeLine): string =>
  [when, iteration, taskId, sample, ...(agent === undefined ? [] : [agent])]
    .map((part) => encodeURIComponent(wellFormed(String(part))))
    .join('/');

/** Half of a pair of UTF-16 has no encoding. */
const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');

const sampledTokens = ({ spans }: EpisodeLine): number =>
  spans.reduce((sum, { source, start, end }) => sum + (source === 'sampled' ? end - start : 0), 0);

function secondsOf({ seconds }: EpisodeLine): number | null {
  if (seconds === undefined) return null;
  return Object.values(seconds).reduce((sum, one) => sum + one, 0);
}

/** Episodes are compared by task and agent, within what was drawn together. */
function groupOf({ when = 'train', iteration, taskId, agent = '', place }: EpisodeLine): string {
  const drawn = place ? [place.iteration, place.round, place.slot] : [iteration];
  return JSON.stringify([when, ...drawn, taskId, agent]);
}

function questionOf({ messages }: EpisodeLine): string {
  const asked = messages.find(({ role }) => role === 'user')?.content ?? '';
  return asked.slice(0, mostQuestion).replaceAll(/\s+/g, ' ');
}
