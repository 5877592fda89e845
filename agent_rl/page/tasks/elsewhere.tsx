import type { RunHead, TaskEverywhere } from '../../runs/view/api.ts';
import { useOwnAnswer } from '../data/use-answer.ts';
import { attemptText, OutcomeMark, rewardText } from '../episodes/episode-columns.tsx';
import { hashOf, type Route, within } from '../routing/route.ts';
import { Problem } from '../shell/problem.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

interface ElsewhereProps {
  taskId: string;
  runs: readonly RunHead[];
  /** Id of an episode that is shown already. */
  except?: string;
  /** The run it belongs to. */
  of?: string;
  /** Rows shown of each run; all without it. */
  most?: number;
  route: Route;
}

/** The same task in other steps of a run, and in other runs. */
export function Elsewhere({ taskId, runs, except, of, most = Infinity, route }: ElsewhereProps) {
  const { answer, problem } = useOwnAnswer<TaskEverywhere>(
    `/api/tasks/${encodeURIComponent(taskId)}`,
  );
  if (problem !== undefined) return <Problem text={problem} />;
  if (answer === undefined) return <p class="waiting">Looking for the task elsewhere …</p>;
  const others = answer.runs
    .map(({ run, rows }) => ({
      run,
      rows: rows.filter(({ id }) => !(id === except && run === of)),
    }))
    .filter(({ rows }) => rows.length > 0);
  if (others.length === 0) return <p class="note">It occurs nowhere else.</p>;
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
                <td colSpan={3}>{rows.length - most} more: see the task</td>
              </tr>
            </tfoot>
          )}
        </table>
      ))}
    </>
  );
}
