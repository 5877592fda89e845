import type { RunHead, TaskEverywhere } from '../../runs/view/api.ts';
import { useOwnAnswer } from '../data/use-answer.ts';
import { attemptText, OutcomeMark, rewardText } from '../episodes/episode-columns.tsx';
import { hashOf, type Route, within } from '../routing/route.ts';
import { Problem } from '../shell/problem.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

interface ElsewhereProps {
  taskId: string;
  runs: readonly RunHead[];
  /** Id of an episode to leave out. */
  except?: string;
  /** The run it belongs to. */
  of?: string;
  /** The most rows for each run; by default all. */
  most?: number;
  route: Route;
}

/** Other episodes of a task, in this run and in others. */
export function Elsewhere({ taskId, runs, except, of, most = Infinity, route }: ElsewhereProps) {
  const { answer, problem } = useOwnAnswer<TaskEverywhere>(
    `/api/tasks/${encodeURIComponent(taskId)}`,
  );
  if (problem !== undefined) return <Problem text={problem} />;
  if (answer === undefined) return <p class="waiting">Looking for other episodes of the task …</p>;
  const others = answer.runs
    .map(({ run, rows }) => ({
      run,
      rows: rows.filter(({ id }) => !(id === except && run === of)),
    }))
    .filter(({ rows }) => rows.length > 0);
  if (others.length === 0) return <p class="note">No other episode attempted this task.</p>;
  return (
    <>
      {others.map(({ run, rows }) => (
        <table key={run} class="elsewhere">
          <caption>{escapeUnseen(runs.find(({ id }) => id === run)?.name ?? run)}</caption>
          <tbody>
            {rows.slice(0, most).map((row) => (
              <tr key={row.id}>
                <th scope="row">
                  <a href={hashOf(within(route, { run, view: 'episodes', item: row.id }))}>
                    iteration {row.iteration} · {attemptText(row)}
                  </a>
                </th>
                <td>
                  <OutcomeMark row={row} />
                </td>
                <td class="number">{rewardText(row.reward)}</td>
              </tr>
            ))}
          </tbody>
          {rows.length > most && (
            <tfoot>
              <tr>
                <td colSpan={3}>{rows.length - most} more on the task's page</td>
              </tr>
            </tfoot>
          )}
        </table>
      ))}
    </>
  );
}
