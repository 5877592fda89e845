import { useEffect, useRef } from 'preact/hooks';

import type { TaskRow } from '../../runs/view/api.ts';
import { pointsText } from '../../telemetry/figures.ts';
import { hashOf, type Route } from '../routing/route.ts';
import { formatShare } from '../text/format.ts';
import { Scroll } from '../shell/scroll.tsx';
import { escapeUnseen } from '../text/visible-text.ts';
import { changeOf, rateOf, type TaskColumn, type TaskSort } from './sort-tasks.ts';
import { SolveRates } from './solve-rates.tsx';

interface TaskTableProps {
  rows: readonly TaskRow[];
  /** Of the run: the right end of the small charts. */
  lastIteration: number;
  sort: TaskSort;
  setSort: (sort: TaskSort) => void;
  selected: number;
  select: (at: number) => void;
  routeTo: (task: TaskRow) => Route;
}

const headings: readonly (readonly [TaskColumn, string, boolean])[] = [
  ['taskId', 'task', false],
  ['slice', 'slice', false],
  ['attempts', 'attempts', true],
  ['rate', 'solved', true],
  ['change', 'change', true],
  ['lastIteration', 'last', true],
];

/** One page of tasks. */
export function TaskTable(props: TaskTableProps) {
  const { rows, lastIteration, sort, setSort, selected, select, routeTo } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    body.current?.rows[selected]?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <Scroll label="Tasks">
      <table class="episodes">
        <thead>
          <tr>
            {headings.map(([by, title, isNumber]) => (
              <th
                key={by}
                scope="col"
                class={isNumber ? 'number' : ''}
                aria-sort={sort.by === by ? (sort.isDown ? 'descending' : 'ascending') : 'none'}
              >
                <button
                  type="button"
                  onClick={() => setSort({ by, isDown: sort.by === by ? !sort.isDown : isNumber })}
                >
                  {title}
                  <span aria-hidden="true">
                    {sort.by === by ? (sort.isDown ? ' ↓' : ' ↑') : ''}
                  </span>
                </button>
              </th>
            ))}
            <th scope="col">solved by iteration</th>
            <th scope="col">question</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((task, at) => (
            <tr
              key={task.taskId}
              class={at === selected ? 'selected' : ''}
              onClick={() => select(at)}
            >
              <th scope="row">
                <a href={hashOf(routeTo(task))} onFocus={() => select(at)}>
                  {escapeUnseen(task.taskId)}
                </a>
              </th>
              <td>{escapeUnseen(task.slice ?? 'not recorded')}</td>
              <td class="number">{task.attempts.toLocaleString('en')}</td>
              <td class="number">{formatShare(rateOf(task))}</td>
              <td class="number">{changeText(task)}</td>
              <td class="number">{task.lastIteration}</td>
              <td>
                <SolveRates task={task} lastIteration={lastIteration} />
              </td>
              <td class="rest">
                <span class="question">{escapeUnseen(task.question)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function changeText(task: TaskRow): string {
  const change = changeOf(task);
  if (change === null) return '–';
  return `${pointsText(change)} points`;
}
