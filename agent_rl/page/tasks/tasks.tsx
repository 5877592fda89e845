import { useMemo, useState } from 'preact/hooks';

import type { RunHead, TaskRow } from '../../runs/view/api.ts';
import { useAnswer } from '../data/use-answer.ts';
import { useSlowly } from '../data/use-slowly.ts';
import { Field } from '../shell/field.tsx';
import { type Route, within } from '../routing/route.ts';
import { go } from '../routing/use-route.ts';
import { focusRow, useKeys } from '../shell/keys.ts';
import { Problem } from '../shell/problem.tsx';
import { TaskTable } from './task-table.tsx';
import { type TaskSort, sortTasks } from './sort-tasks.ts';

const searchId = 'task-search';
const pageSize = 100;

/** The tasks of a run with how often they were solved, and when. */
export function Tasks({ run, route }: { run: RunHead; route: Route }) {
  const version = useSlowly(`${run.iteration} ${run.episodes.eval} ${run.index.ready}`);
  const { answer, problem } = useAnswer<readonly TaskRow[]>(`/api/runs/${run.id}/tasks`, version);
  const [search, setSearch] = useState('');
  const [sort, setSort] = useState<TaskSort>({ by: 'attempts', isDown: true });
  const [offset, setOffset] = useState(0);
  const [selected, select] = useState(0);
  const sorted = useMemo(
    () => sortTasks(matching(answer ?? [], search), sort),
    [answer, search, sort],
  );
  const rows = sorted.slice(offset, offset + pageSize);
  const move = (by: number) => () =>
    focusRow(Math.max(0, Math.min(rows.length - 1, selected + by)));
  const row = rows[selected];
  const to = (task: TaskRow): Route =>
    within(route, { run: run.id, view: 'tasks', item: encodeURIComponent(task.taskId) });
  useKeys({
    j: move(1),
    ArrowDown: move(1),
    k: move(-1),
    ArrowUp: move(-1),
    Enter: row && (() => go(to(row))),
    '/': () => document.getElementById(searchId)?.focus(),
  });
  const begin = (change: () => void): void => {
    change();
    setOffset(0);
    select(0);
  };
  return (
    <div class="list">
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field
          id={searchId}
          label="task"
          value={search}
          set={(text) => begin(() => setSearch(text))}
          placeholder="name, slice or question  ( / )"
          isWide
        />
      </form>
      <Problem text={problem} />
      {answer === undefined && problem === undefined && <p class="waiting">Reading tasks …</p>}
      {answer && (
        <>
          <div class="pager">
            <span role="status">
              {rows.length === 0 ? 'none' : `${offset + 1}–${offset + rows.length}`} of{' '}
              {sorted.length.toLocaleString('en')} tasks
            </span>
            <button
              type="button"
              disabled={offset === 0}
              onClick={() => setOffset(offset - pageSize)}
            >
              ← previous
            </button>
            <button
              type="button"
              disabled={offset + pageSize >= sorted.length}
              onClick={() => setOffset(offset + pageSize)}
            >
              next →
            </button>
          </div>
          {rows.length > 0 && (
            <TaskTable
              rows={rows}
              lastIteration={run.iteration}
              sort={sort}
              setSort={(next) => begin(() => setSort(next))}
              selected={selected}
              select={select}
              routeTo={to}
            />
          )}
        </>
      )}
    </div>
  );
}

function matching(tasks: readonly TaskRow[], search: string): readonly TaskRow[] {
  const words = search.toLowerCase();
  return tasks.filter(({ taskId, slice, question }) =>
    `${taskId}\n${slice ?? ''}\n${question}`.toLowerCase().includes(words),
  );
}
