import { type Static, Type } from '../core/typebox.ts';
import { choice } from '../config/blocks/block.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';
import { hitsOf, type SearchHit } from '../core/services/search.ts';
import type { Task } from '../core/tasks/task.ts';
import { largest } from '../core/long-lists.ts';

const Settings = Type.Object({
  over: choice(
    'Which search of the episode counts: the one with the best result, or the last',
    ['best', 'last'],
    'best',
  ),
});

/**
 * One over the rank of the first hit from a document that supports the answer, in the order in which the policy saw the
 * hits; 0 without such a hit. Does not apply to a task without supporting documents.
 */
export const mrr = reward({
  name: 'mrr',
  description:
    '1 divided by the rank of the first search hit from a document that supports the answer',
  settings: Settings,
})(({ task, turns }: EpisodeView, { over }: Static<typeof Settings>): number | undefined => {
  const relevant = relevantDocuments(task);
  if (relevant.size === 0) return undefined;
  const ranks = turns
    .flatMap(({ calls }) => calls)
    .map(({ result }) => hitsOf(result))
    .filter((hits) => hits !== undefined)
    .map((hits) => reciprocalRank(hits, relevant));
  return over === 'best' ? largest(ranks, 0) : (ranks.at(-1) ?? 0);
});

/** 1, 1/2, 1/3, … for the first hit of a wanted document; 0 without one. */
export function reciprocalRank(
  hits: readonly Pick<SearchHit, 'documentId' | 'alsoIn'>[],
  wanted: ReadonlySet<string>,
): number {
  const place = hits.findIndex(({ documentId, alsoIn = [] }) =>
    [documentId, ...alsoIn].some((id) => wanted.has(id)),
  );
  return place === -1 ? 0 : 1 / (place + 1);
}

interface Sourced {
  documentIds?: unknown;
}

function relevantDocuments(task: Task): ReadonlySet<string> {
  const ids = (task as Sourced).documentIds ?? task.metadata['document_ids'];
  const listed: readonly unknown[] = Array.isArray(ids) ? ids : [];
  return new Set(listed.filter((id) => typeof id === 'string'));
}
