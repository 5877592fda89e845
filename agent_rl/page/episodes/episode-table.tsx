import { useEffect, useRef } from 'preact/hooks';

import type { EpisodeRow } from '../../runs/view/api.ts';
import { hashOf, type Route, within } from '../routing/route.ts';
import { adjust } from '../routing/use-route.ts';
import { Scroll } from '../shell/scroll.tsx';
import { escapeUnseen } from '../text/visible-text.ts';
import { type EpisodeColumn, episodeColumns } from './episode-columns.tsx';
import { nextSort } from './episode-query.ts';

interface EpisodeTableProps {
  route: Route;
  rows: readonly EpisodeRow[];
  /** Index of the row that keys act on. */
  selected: number;
  select: (at: number) => void;
}

/** Columns that say something of these rows: what none of them has takes no room. */
const columnsOf = (rows: readonly EpisodeRow[]): readonly EpisodeColumn[] =>
  episodeColumns.filter(
    ({ key }) =>
      !['advantage', 'use', 'slice'].includes(key) ||
      rows.some((row) => row[key] !== null && row[key] !== undefined),
  );

/** One page of episodes. */
export function EpisodeTable({ route, rows, selected, select }: EpisodeTableProps) {
  const columns = columnsOf(rows);
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    body.current?.rows[selected]?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <Scroll label="Episodes">
      <table class="episodes">
        <thead>
          <tr>
            <Heading route={route} column={{ key: 'taskId', title: 'episode', isNumber: false }} />
            {columns.map((column) => (
              <Heading key={column.key} route={route} column={column} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, at) => (
            <tr key={row.id} class={at === selected ? 'selected' : ''} onClick={() => select(at)}>
              <th scope="row">
                <a href={hashOf(toEpisode(route, row))} onFocus={() => select(at)}>
                  {escapeUnseen(row.taskId)} · {row.sample}
                  {row.agent !== null && ` · ${escapeUnseen(row.agent)}`}
                  {row.when !== null && ` · ${escapeUnseen(row.when)}`}
                </a>
              </th>
              {columns.map(({ key, isNumber, show }) => (
                <td key={key} class={isNumber ? 'number' : key === 'question' ? 'rest' : ''}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Keeps the filters of the list, for the way back. */
export const toEpisode = (route: Route, row: Pick<EpisodeRow, 'id'>): Route =>
  within(route, { view: 'episodes', item: row.id, query: route.query });

interface HeadingProps {
  route: Route;
  column: Pick<EpisodeColumn, 'key' | 'title' | 'isNumber'>;
}

function Heading({ route, column: { key, title, isNumber } }: HeadingProps) {
  const isSorted = route.query['sort'] === key;
  const isDown = route.query['order'] === 'desc';
  const sorted = isSorted ? (isDown ? 'descending' : 'ascending') : 'none';
  return (
    <th scope="col" aria-sort={sorted} class={isNumber ? 'number' : ''}>
      <button type="button" onClick={() => adjust(nextSort(route, key, isNumber))}>
        {title}
        <span aria-hidden="true">{isSorted ? (isDown ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}
