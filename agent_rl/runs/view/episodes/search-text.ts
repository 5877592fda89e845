import { setImmediate } from 'node:timers/promises';

import type { Rollout } from '../../../core/rollout.ts';
import type { TextSearch } from '../api.ts';
import type { EpisodeIndex } from '../index/episode-index.ts';
import type { IndexedEpisode } from '../index/episode-row.ts';

export interface SearchRequest {
  /** Any case. */
  text: string;
  /** Where to begin among the episodes. */
  offset: number;
  /** Found episodes to stop after. */
  limit: number;
  index: Pick<EpisodeIndex, 'eventOf'>;
  signal?: AbortSignal | undefined;
  /** Characters to stop after. */
  mostBytes?: number;
}

/** About half a second of one processor. */
const mostBytesOfRequest = 64 * 2 ** 20;

/**
 * Reads episodes for those with a text in what was said, called or answered, in any case. It ends early after a number of
 * characters, so that no request holds up the others.
 */
export async function searchText(
  episodes: readonly IndexedEpisode[],
  { text, offset, limit, index, signal, mostBytes = mostBytesOfRequest }: SearchRequest,
): Promise<{ found: readonly IndexedEpisode[]; search: TextSearch }> {
  const found: IndexedEpisode[] = [];
  const wanted = text.toLowerCase();
  let bytes = 0;
  let at = offset;
  for (; at < episodes.length && found.length < limit && bytes < mostBytes; at++) {
    if (at % 256 === 0) await setImmediate();
    signal?.throwIfAborted();
    const episode = episodes[at]!;
    const { data } = await index.eventOf(episode);
    bytes += episode.characters;
    if (hasText(data as unknown as Rollout, episode.row.agent, wanted)) found.push(episode);
  }
  const next = at < episodes.length ? at : null;
  const searched = Math.max(0, at - offset);
  return { found, search: { searched, of: episodes.length, bytes, mostBytes, next } };
}

/** Messages, and the calls and results in them. Names of keys are not what was said. */
function hasText({ parts, problem, taskId }: Rollout, agent: string, wanted: string): boolean {
  const own = parts.find((part) => part.agent === agent);
  const calls = own?.calls.map(({ call, result }) => [call.name, call.arguments, result.content]);
  return [own?.messages, calls, problem, taskId].some((part) => within(part, wanted));
}

function within(value: unknown, wanted: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(wanted);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((part) => within(part, wanted));
}
