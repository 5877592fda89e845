import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { hashOf, type Route } from '../routing/route.ts';
import { go } from '../routing/use-route.ts';
import { type KeyActions, useKeys } from './keys.ts';
import { Scroll } from './scroll.tsx';

export interface Column<Row> {
  key: string;
  title: string;
  /** What the column means, shown as a tooltip and above the table. */
  hint?: string;
  isNumber?: boolean;
  /** The rows cannot be sorted by it. */
  isFixed?: boolean;
  class?: string;
  show: (row: Row) => ComponentChildren;
}

interface RowKeys<Row> {
  rows: readonly Row[];
  to: (row: Row) => Route;
  searchId: string;
  also?: KeyActions;
}

/** The selected row, which keys move and open; `/` leads to the search. */
export function useSelected<Row>({ rows, to, searchId, also }: RowKeys<Row>) {
  const [selected, select] = useState(0);
  const move = (by: number) => () =>
    focusRow(Math.max(0, Math.min(rows.length - 1, selected + by)));
  const row = rows[selected];
  useKeys({
    j: move(1),
    ArrowDown: move(1),
    k: move(-1),
    ArrowUp: move(-1),
    Enter: row && (() => go(to(row))),
    '/': () => document.getElementById(searchId)?.focus(),
    ...also,
  });
  return { selected, select };
}

/** Focuses the link of a row, which selects the row; Enter then opens it like any other link. */
const focusRow = (at: number): void =>
  document.querySelectorAll<HTMLElement>('table.episodes tbody th a')[at]?.focus();

interface ListProps<Row> extends Pick<RowKeys<Row>, 'rows' | 'to'> {
  label: string;
  /** The first one links to the row's own page. */
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  sort: { by: string | undefined; isDown: boolean };
  setSort: (column: Column<Row>) => void;
  selected: number;
  select: (at: number) => void;
}

/** One page of a list. */
export function List<Row>(props: ListProps<Row>) {
  const { label, rows, to, columns, keyOf, sort, setSort, selected, select } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    body.current?.rows[selected]?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  const [first, ...others] = columns;
  return (
    <Scroll label={label}>
      <table class="episodes">
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} sort={sort} setSort={setSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, at) => (
            <tr
              key={keyOf(row)}
              class={at === selected ? 'selected' : ''}
              onClick={(event) => {
                select(at);
                if (isPlainClick(event)) go(to(row));
              }}
            >
              <th scope="row">
                <a href={hashOf(to(row))} onFocus={() => select(at)}>
                  {first?.show(row)}
                </a>
              </th>
              {others.map((column) => (
                <td key={column.key} class={column.isNumber ? 'number' : (column.class ?? '')}>
                  {column.show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Whether a click means the row: not its link, which opens by itself, and not the end of a selection of text. */
const isPlainClick = ({ target, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean =>
  !(ctrlKey || metaKey || shiftKey) &&
  target instanceof Element &&
  target.closest('a') === null &&
  getSelection()?.isCollapsed !== false;

type HeadingProps<Row> = Pick<ListProps<Row>, 'sort' | 'setSort'> & { column: Column<Row> };

function Heading<Row>({ column, sort, setSort }: HeadingProps<Row>) {
  const { key, title, hint, isNumber, isFixed } = column;
  if (isFixed) return <th scope="col">{title}</th>;
  const sorted = sort.by !== key ? 'none' : sort.isDown ? 'descending' : 'ascending';
  return (
    <th scope="col" aria-sort={sorted} class={isNumber ? 'number' : ''} title={hint}>
      <button type="button" onClick={() => setSort(column)}>
        {title}
        <span aria-hidden="true">{{ none: '', descending: ' ↓', ascending: ' ↑' }[sorted]}</span>
      </button>
    </th>
  );
}

/** A button of a pager; disabled without an action. */
interface Turn {
  label: string;
  turn: (() => void) | undefined;
}

/** Which rows of a list are shown, and buttons to the others. */
export const Pager = ({ turns, children }: { turns: Turn[]; children: ComponentChildren }) => (
  <div class="pager">
    <span role="status">{children}</span>
    {turns.map(({ label, turn }) => (
      <button key={label} type="button" disabled={turn === undefined} onClick={turn}>
        {label}
      </button>
    ))}
  </div>
);

/** `1–100`, or `none`. */
export const rangeText = (offset: number, { length }: readonly unknown[]): string =>
  length === 0
    ? 'none'
    : `${(offset + 1).toLocaleString('en')}–${(offset + length).toLocaleString('en')}`;
