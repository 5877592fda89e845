import { sampledTokens } from '../../../core/rollout.ts';
import type { EpisodeFile, EpisodeRecord } from '../../episodes/read-episodes.ts';
import { partText } from '../../query/parts.ts';
import type { EpisodeRow } from '../api.ts';

/** A row, and the events that it is made of. */
export interface IndexedEpisode {
  row: EpisodeRow;
  set: EpisodeFile;
  /** The number of its rollout's event. */
  rollout: number;
  /** Of what the update made of it; absent where it was not recorded. */
  learned?: number;
  /** Characters of its messages. */
  characters: number;
}

const mostQuestion = 120;

/** The columns of an episode, without what the update made of it. */
export function rowOf(record: EpisodeRecord): EpisodeRow {
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
