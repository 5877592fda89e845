import { useEffect } from 'preact/hooks';

import type { EpisodePage, EpisodeRow, RunHead } from '../../runs/view/api.ts';
import { bytesText, countText } from '../../telemetry/figures.ts';
import { useAnswer, useAnswers } from '../data/use-answer.ts';
import { useSlowly } from '../data/use-slowly.ts';
import { type Route, within } from '../routing/route.ts';
import { adjust } from '../routing/use-route.ts';
import { List, Pager, rangeText, useSelected } from '../shell/list.tsx';
import { Problem } from '../shell/problem.tsx';
import { columnsOf } from './episode-columns.tsx';
import { episodesPath, nextSort, pageSize } from './episode-query.ts';
import { Filters } from './filters.tsx';

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
  const rows = page?.rows ?? [];
  const offset = Number(route.query['offset'] ?? 0);
  const turnTo = (to: number | null | undefined) =>
    to === null || to === undefined
      ? undefined
      : () => adjust({ ...route, query: { ...route.query, offset: to <= 0 ? '' : String(to) } });
  const next = turnTo(page && nextOffset(page, offset));
  // A search through texts has no pages to go back by.
  const previous = turnTo(offset === 0 ? null : page?.search ? 0 : offset - pageSize);
  // Keeps the filters of the list, for the way back.
  const to = (row: EpisodeRow): Route =>
    within(route, { view: 'episodes', item: row.id, query: route.query });
  const also = { n: next, p: page?.search ? undefined : previous };
  const { selected, select } = useSelected({ rows, to, searchId, also });
  useEffect(() => select(0), [path]);
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
      {page === undefined && problem === undefined && <p class="waiting">Reading episodes …</p>}
      {page && (
        <Pager
          turns={[
            { label: page.search ? 'from the start' : '← previous', turn: previous },
            { label: page.search ? 'search on →' : 'next →', turn: next },
          ]}
        >
          {statusOf(page, offset)}
          {waiting && ' …'}
        </Pager>
      )}
      {rows.length > 0 && (
        <List
          label="Episodes"
          rows={rows}
          to={to}
          columns={columnsOf(rows)}
          keyOf={({ id }) => id}
          sort={{ by: route.query['sort'], isDown: route.query['order'] === 'desc' }}
          setSort={({ key, isNumber = false }) => adjust(nextSort(route, key, isNumber))}
          selected={selected}
          select={select}
        />
      )}
    </div>
  );
}

const number = (value: number): string => value.toLocaleString('en');

/** How many episodes there are, and which of them are shown; of a search how far it came. */
function statusOf({ rows, matching, total, search, index }: EpisodePage, offset: number): string {
  if (search)
    return `${number(rows.length)} found in ${number(search.searched)} of ${number(search.of)} episodes (${bytesText(search.bytes)} read)`;
  const all = countText(total, 'episode');
  const of = matching === total ? all : `${number(matching)} that match, of ${all}`;
  return `${rangeText(offset, rows)} of ${of}${index.ready ? '' : '; more are being read'}`;
}
