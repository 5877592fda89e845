import type { EpisodePage } from '../../runs/view/api.ts';
import { readQuery } from '../../runs/view/episodes/episode-query.ts';
import { filterEpisodes } from '../../runs/view/episodes/filter-episodes.ts';

/**
 * Filters, sorts and pages the episodes of an export as the server does those of a run. Text is looked for in names and
 * questions alone: the export's list holds no more of the episodes.
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
