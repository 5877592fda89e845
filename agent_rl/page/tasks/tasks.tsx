import { useMemo, useState } from 'preact/hooks';

import type { RunHead, TaskRow } from '../../runs/view/api.ts';
import { countText } from '../../telemetry/figures.ts';
import { useAnswer } from '../data/use-answer.ts';
import { useSlowly } from '../data/use-slowly.ts';
import { type Route, within } from '../routing/route.ts';
import { Field } from '../shell/field.tsx';
import { List, Pager, rangeText, useSelected } from '../shell/list.tsx';
import { Problem } from '../shell/problem.tsx';
import { type TaskColumn, type TaskSort, sortTasks } from './sort-tasks.ts';
import { taskColumns } from './task-columns.tsx';

const searchId = 'task-search';
const pageSize = 100;

/** The tasks of a run with their success, overall and by iteration. */
export function Tasks({ run, route }: { run: RunHead; route: Route }) {
  const version = useSlowly(`${run.iteration} ${run.episodes.eval} ${run.index.ready}`);
  const { answer, problem } = useAnswer<readonly TaskRow[]>(`/api/runs/${run.id}/tasks`, version);
  const [search, setSearch] = useState('');
  const [sort, setSort] = useState<TaskSort>({ by: 'attempts', isDown: true });
  const [offset, setOffset] = useState(0);
  const sorted = useMemo(
    () => sortTasks(matching(answer ?? [], search), sort),
    [answer, search, sort],
  );
  const rows = sorted.slice(offset, offset + pageSize);
  const to = (task: TaskRow): Route =>
    within(route, { run: run.id, view: 'tasks', item: encodeURIComponent(task.taskId) });
  const { selected, select } = useSelected({ rows, to, searchId });
  const begin = (change: () => void): void => {
    change();
    setOffset(0);
    select(0);
  };
  const turn = (by: number) => () => setOffset(offset + by);
  return (
    <div class="list">
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field
          id={searchId}
          label="task"
          value={search}
          set={(text) => begin(() => setSearch(text))}
          placeholder="search all columns  ( / )"
          isWide
        />
      </form>
      <Problem text={problem} />
      {answer === undefined && problem === undefined && <p class="waiting">Reading tasks …</p>}
      {answer && (
        <Pager
          turns={[
            { label: '← previous', turn: offset === 0 ? undefined : turn(-pageSize) },
            {
              label: 'next →',
              turn: offset + pageSize >= sorted.length ? undefined : turn(pageSize),
            },
          ]}
        >
          {rangeText(offset, rows)} of {countText(sorted.length, 'task')}
        </Pager>
      )}
      {rows.length > 0 && (
        <List
          label="Tasks"
          rows={rows}
          to={to}
          columns={taskColumns(run.iteration).filter(
            ({ key }) => key !== 'slice' || rows.some(({ slice }) => slice !== null),
          )}
          keyOf={({ taskId }) => taskId}
          sort={sort}
          setSort={({ key, isNumber = false }) =>
            begin(() => {
              const isDown = sort.by === key ? !sort.isDown : isNumber;
              setSort({ by: key as TaskColumn, isDown });
            })
          }
          selected={selected}
          select={select}
        />
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
