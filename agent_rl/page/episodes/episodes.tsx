import { useEffect, useState } from 'preact/hooks';

import type { EpisodePage, RunHead } from '../../runs/view/api.ts';
import { countText } from '../../telemetry/figures.ts';
import { useAnswer, useAnswers } from '../data/use-answer.ts';
import { useSlowly } from '../data/use-slowly.ts';
import type { Route } from '../routing/route.ts';
import { adjust, go } from '../routing/use-route.ts';
import { focusRow, useKeys } from '../shell/keys.ts';
import { Problem } from '../shell/problem.tsx';
import { episodesPath, pageSize } from './episode-query.ts';
import { EpisodeTable, toEpisode } from './episode-table.tsx';
import { Filters } from './filters.tsx';
import { Pager } from './pager.tsx';
import { SearchState } from './search-state.tsx';

const searchId = 'episode-search';

/** Where the list goes on: a search through texts ends early and says where. */
const nextOffset = ({ search, matching }: EpisodePage, offset: number): number | null =>
  search ? search.next : offset + pageSize < matching ? offset + pageSize : null;

/** The list of a run's episodes. */
export function Episodes({ run, route: given }: { run: RunHead; route: Route }) {
  const route = { ...given, run: run.id };
  const version = useSlowly(`${run.episodes.train} ${run.episodes.eval} ${run.index.ready}`);
  const path = episodesPath(route);
  const { answer: page, problem, waiting } = useAnswer<EpisodePage>(path, version);
  const isLive = useAnswers().live;
  const [selected, select] = useState(0);
  useEffect(() => select(0), [path]);
  const rows = page?.rows ?? [];
  const offset = Number(route.query['offset'] ?? 0);
  const turn = (to: number): void =>
    adjust({ ...route, query: { ...route.query, offset: to <= 0 ? '' : String(to) } });
  const move = (by: number): void =>
    focusRow(Math.max(0, Math.min(rows.length - 1, selected + by)));
  const row = rows[selected];
  useKeys({
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    Enter: row && (() => go(toEpisode(route, row))),
    '/': () => document.getElementById(searchId)?.focus(),
    n:
      page && nextOffset(page, offset) !== null
        ? () => turn(nextOffset(page, offset) ?? 0)
        : undefined,
    p: offset > 0 && !page?.search ? () => turn(offset - pageSize) : undefined,
  });
  return (
    <div class="list">
      <Filters route={route} page={page} searchId={searchId} />
      <Problem text={problem} />
      {!isLive && route.query['text'] && (
        <p class="note">An export is searched by name and question, not by what was said.</p>
      )}
      {page?.leftOut !== undefined && (
        <p class="note">
          This export leaves out {countText(page.leftOut, 'older training episode')}: they are
          listed and counted, and cannot be opened. All are in an export with --export-episodes all.
        </p>
      )}
      {page ? (
        <>
          {page.search ? (
            <SearchState
              page={page}
              search={page.search}
              offset={offset}
              turn={turn}
              isWaiting={waiting}
            />
          ) : (
            <Pager page={page} offset={offset} turn={turn} isWaiting={waiting} />
          )}
          {rows.length > 0 && (
            <EpisodeTable route={route} rows={rows} selected={selected} select={select} />
          )}
        </>
      ) : (
        problem === undefined && <p class="waiting">Reading episodes …</p>
      )}
    </div>
  );
}
