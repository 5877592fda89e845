import { useState } from 'preact/hooks';

import type { RunHead, Timeline } from '../../runs/view/api.ts';
import { useAnswer } from '../data/use-answer.ts';
import { hashOf, type Route, within } from '../routing/route.ts';
import { Problem } from '../shell/problem.tsx';
import { formatSeconds } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';
import { TimelineTracks } from './timeline-tracks.tsx';

/** How one iteration spent its time: by activity, by tool and, if profiled, by thread. */
export function TimelineView({ run, route }: { run: RunHead; route: Route }) {
  const [chosen, choose] = useState<number | undefined>(undefined);
  const iteration = chosen ?? Math.max(1, run.iteration);
  const isThere = run.iteration > 0;
  const { answer, problem } = useAnswer<Timeline>(
    isThere ? `/api/runs/${run.id}/timeline?iteration=${iteration}` : null,
  );
  const episodes = within(route, {
    run: run.id,
    view: 'episodes',
    query: { when: 'train', iteration: String(iteration) },
  });
  return (
    <section aria-label="Timeline of an iteration">
      <h2>Timeline of an iteration</h2>
      {!isThere && <p class="note">No iteration has finished yet.</p>}
      {isThere && (
        <div class="controls">
          <label>
            Iteration{' '}
            <input
              type="range"
              min="1"
              max={run.iteration}
              value={iteration}
              onInput={({ currentTarget }) => choose(Number(currentTarget.value))}
            />{' '}
            <output>{iteration}</output>
          </label>
          <a href={hashOf(episodes)}>Episodes of this iteration</a>
        </div>
      )}
      <Problem text={problem} />
      {answer && (
        <>
          {answer.tracks === null ? (
            <p class="note">Threads: not recorded. Train with --profile to record them.</p>
          ) : (
            <TimelineTracks tracks={answer.tracks} />
          )}
          <div class="cards">
            <Activities
              title="Wall-clock time"
              rows={answer.activities.filter(({ name }) => !ofEpisodes.has(name))}
            />
            <Activities
              title="Total time in episodes, which run in parallel"
              rows={answer.activities.filter(({ name }) => ofEpisodes.has(name))}
            />
            <Tools rows={answer.tools} />
          </div>
        </>
      )}
    </section>
  );
}

/** Episodes run in parallel, so these may add up to more than the iteration took. */
const ofEpisodes = new Set(['generation', 'tools', 'grading']);

function Activities({ title, rows }: { title: string; rows: Timeline['activities'] }) {
  if (rows.length === 0) return null;
  const most = rows.reduce((largest, { seconds }) => Math.max(largest, seconds), 0);
  return (
    <table class="bars">
      <caption>{title}</caption>
      <tbody>
        {rows.map(({ name, seconds, meaning }) => (
          <tr key={name} title={meaning}>
            <th scope="row">{escapeUnseen(name)}</th>
            <td class="number">{formatSeconds(seconds)}</td>
            <td>
              <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect x="0" y="0" height="8" width={most === 0 ? 0 : (100 * seconds) / most} />
              </svg>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Tools({ rows }: { rows: Timeline['tools'] }) {
  if (rows.length === 0) return <p class="note">No tool calls.</p>;
  return (
    <table class="bars">
      <caption>Tool calls</caption>
      <thead>
        <tr>
          <th scope="col">tool</th>
          <th scope="col" class="number">
            calls
          </th>
          <th scope="col" class="number">
            errors
          </th>
          <th scope="col" class="number">
            time
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, calls, errors, ms }) => (
          <tr key={name}>
            <th scope="row">{escapeUnseen(name)}</th>
            <td class="number">{calls.toLocaleString('en')}</td>
            <td class="number">{errors.toLocaleString('en')}</td>
            <td class="number">{formatSeconds(ms / 1000)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
