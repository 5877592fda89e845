import { useEffect } from 'preact/hooks';

import type { EpisodePage, EpisodeRow, RunHead } from '../../runs/view/api.ts';
import { bytesText, countText } from '../../telemetry/figures.ts';
import { useAnswer, useAnswers } from '../data/use-answer.ts';
import { useSlowly } from '../data/use-slowly.ts';
import { type Route, within } from '../routing/route.ts';
import { adjust } from '../routing/use-route.ts';
import { List, Pager, rangeText, useSelected } from '../shell/list.tsx';
import { Problem } from '../shell/problem.tsx';
import { columnsOf, termsOf } from './episode-columns.tsx';
import { episodesPath, nextSort, pageSize } from './episode-query.ts';
import { Filters } from './filters.tsx';

const searchId = 'episode-search';

/** The offset of the next page. A search through texts ends early and says where to continue. */
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
  // A search through texts cannot go back by a page.
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
        <p class="note">In an export, the search covers names and questions only.</p>
      )}
      {page?.leftOut !== undefined && (
        <p class="note">
          This export lists {countText(page.leftOut, 'older training episode')} without their
          contents, so they cannot be opened. To include them, export with --export-episodes all.
        </p>
      )}
      {page === undefined && problem === undefined && <p class="waiting">Reading episodes …</p>}
      {page && (
        <Pager
          turns={[
            { label: page.search ? 'back to the start' : '← previous', turn: previous },
            { label: page.search ? 'continue searching →' : 'next →', turn: next },
          ]}
        >
          {statusOf(page, offset)}
          {waiting && ' …'}
        </Pager>
      )}
      <Terms terms={termsOf(rows)} />
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

/** Explains the words in the table, folded into one line. */
const Terms = ({ terms }: { terms: ReturnType<typeof termsOf> }) => (
  <details class="note">
    <summary>What do {terms.map(([term]) => term).join(', ')} mean?</summary>
    {terms.map(([term, meaning]) => (
      <p key={term}>
        <b>{term}</b>: {meaning}
      </p>
    ))}
  </details>
);

const number = (value: number): string => value.toLocaleString('en');

/** Which episodes are shown, of how many; during a search, how far it got. */
function statusOf({ rows, matching, total, search, index }: EpisodePage, offset: number): string {
  if (search)
    return `${number(rows.length)} found; searched ${number(search.searched)} of ${number(search.of)} episodes (${bytesText(search.bytes)})`;
  const all = countText(total, 'episode');
  const of = matching === total ? all : `${number(matching)} that match, of ${all}`;
  return `${rangeText(offset, rows)} of ${of}${index.ready ? '' : '; still reading more'}`;
}
