import type { EpisodePage } from '../../runs/view/api.ts';
import { readQuery } from '../../runs/view/episodes/episode-query.ts';
import { filterEpisodes } from '../../runs/view/episodes/filter-episodes.ts';

/**
 * Filters, sorts and pages the episodes of an export as the server would. A text search covers names and questions only,
 * since the export's list contains nothing else of an episode.
 */
export function filtered(whole: EpisodePage, asked: string): EpisodePage {
  const query = readQuery(new URLSearchParams(asked));
  const words = query.text?.toLowerCase() ?? '';
  const named = whole.rows
    .filter(({ id, taskId, question }) =>
      `${id}\n${taskId}\n${question}`.toLowerCase().includes(words),
    )
    .map((row) => ({ row }));
  const { matching, facets } = filterEpisodes(named, query);
  const shown = matching.slice(query.offset, query.offset + query.limit);
  const rows = shown.map(({ row }) => row);
  return { ...whole, total: whole.rows.length, matching: matching.length, rows, facets };
}
