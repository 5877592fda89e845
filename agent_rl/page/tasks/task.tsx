import type { RunHead, TaskRow } from '../../runs/view/api.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Elsewhere } from './elsewhere.tsx';
import { hashOf, type Route, within } from '../routing/route.ts';
import { go } from '../routing/use-route.ts';
import { useKeys } from '../shell/keys.ts';
import { formatShare } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';
import { rateOf } from './sort-tasks.ts';
import { SolveRates } from './solve-rates.tsx';

interface TaskProps {
  run: RunHead;
  runs: readonly RunHead[];
  route: Route;
  /** Percent-encoded, as in the address. */
  item: string;
}

/** One task with all its episodes, in all runs. */
export function Task({ run, runs, route, item }: TaskProps) {
  const taskId = decoded(item);
  const { answer } = useAnswer<readonly TaskRow[]>(`/api/runs/${run.id}/tasks`, run.iteration);
  const task = answer?.find((row) => row.taskId === taskId);
  const list = within(route, { run: run.id, view: 'tasks' });
  useKeys({ Escape: () => go(list) });
  return (
    <div class="task">
      <nav aria-label="Tasks">
        <a href={hashOf(list)}>← tasks</a>
      </nav>
      <h2>{escapeUnseen(taskId)}</h2>
      {task && (
        <>
          <p class="question">{escapeUnseen(task.question)}</p>
          <p>
            Solved in {task.successes} of {task.attempts} attempts ({formatShare(rateOf(task))}) in
            this run <SolveRates task={task} lastIteration={run.iteration} />
          </p>
        </>
      )}
      <div class="cards">
        <Elsewhere taskId={taskId} runs={runs} route={route} />
      </div>
    </div>
  );
}

function decoded(item: string): string {
  try {
    return decodeURIComponent(item);
  } catch {
    // An address typed by hand.
    return item;
  }
}
