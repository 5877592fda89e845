import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';

import { isRecord } from '../../../core/is-record.ts';
import type { TextSearch } from '../api.ts';
import type { IndexedEpisode } from '../index/episode-row.ts';

export interface SearchRequest {
  /** Any case. */
  text: string;
  /** Where to begin among the episodes. */
  offset: number;
  /** Found episodes to stop after. */
  limit: number;
  fileOf: (set: IndexedEpisode['set']) => string;
  signal?: AbortSignal | undefined;
  /** Bytes to stop after. */
  mostBytes?: number;
}

/** About half a second of one processor. */
const mostBytesOfRequest = 256 * 2 ** 20;

/**
 * Reads the lines of episodes for those with a text in what was said, called or answered, in any case. It ends early after a
 * number of bytes, so that no request holds up the others.
 */
export async function searchText(
  episodes: readonly IndexedEpisode[],
  { text, offset, limit, fileOf, signal, mostBytes = mostBytesOfRequest }: SearchRequest,
): Promise<{ found: readonly IndexedEpisode[]; search: TextSearch }> {
  const found: IndexedEpisode[] = [];
  const wanted = text.toLowerCase();
  // As it stands in a line; most lines are settled by it without being read as JSON.
  const escaped = JSON.stringify(wanted).slice(1, -1);
  let bytes = 0;
  let at = offset;
  const opened = new Map<string, Awaited<ReturnType<typeof open>>>();
  try {
    for (; at < episodes.length && found.length < limit && bytes < mostBytes; at++) {
      if (at % 256 === 0) await setImmediate();
      signal?.throwIfAborted();
      const episode = episodes[at]!;
      const file = fileOf(episode.set);
      const handle = opened.get(file) ?? (await open(file, 'r'));
      opened.set(file, handle);
      const line = Buffer.alloc(episode.bytes);
      await handle.read(line, 0, episode.bytes, episode.offset);
      bytes += episode.bytes;
      const raw = line.toString();
      if (raw.toLowerCase().includes(escaped) && hasText(JSON.parse(raw), wanted))
        found.push(episode);
    }
  } finally {
    for (const handle of opened.values()) await handle.close();
  }
  const next = at < episodes.length ? at : null;
  const searched = Math.max(0, at - offset);
  return { found, search: { searched, of: episodes.length, bytes, mostBytes, next } };
}

/** Messages, and the calls and results in them. Names of keys are not what was said. */
function hasText(record: unknown, wanted: string): boolean {
  if (!isRecord(record)) return false;
  return [record['messages'], record['toolCalls'], record['problem'], record['taskId']].some(
    (part) => within(part, wanted),
  );
}

function within(value: unknown, wanted: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(wanted);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((part) => within(part, wanted));
}
