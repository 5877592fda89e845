import type { Sibling } from '../api.ts';
import type { EpisodeIndex } from '../index/episode-index.ts';
import type { IndexedEpisode } from '../index/episode-row.ts';

/** Of a group that are read; those beyond are listed without where they part. */
const mostRead = 1024;

/** The other episodes of a group, and where each parts from one of them. */
export async function siblingsOf(
  episode: IndexedEpisode,
  tokens: readonly number[],
  index: EpisodeIndex,
): Promise<Sibling[]> {
  const { row } = episode;
  const others = index.all().filter((one) => one.row.group === row.group && one !== episode);
  const siblings: Sibling[] = [];
  for (const [at, other] of others.entries()) {
    if (at >= mostRead) siblings.push({ row: other.row });
    else {
      const { sequences } = (await index.read(other)).record;
      siblings.push({ row: other.row, partsAt: partsAt(tokens, sequences[0]?.tokens ?? []) });
    }
  }
  return siblings;
}

/** Index of the first token in which two differ; null where they are equal. */
function partsAt(one: readonly number[], other: readonly number[]): number | null {
  const longest = Math.max(one.length, other.length);
  for (let at = 0; at < longest; at++) if (one[at] !== other[at]) return at;
  return null;
}
