import type { RunHead } from '../../runs/view/api.ts';
import { hashOf, overlaid, type Route, within } from '../routing/route.ts';
import { adjust } from '../routing/use-route.ts';
import { formatShare } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';
import { colourClass } from '../../runs/charts/palette.ts';

interface RunListProps {
  runs: readonly RunHead[];
  current: RunHead | undefined;
  /** The colours of the runs on the charts. */
  colours: ReadonlyMap<string, number>;
  route: Route;
}

/** The list of runs: a link opens a run, a box overlays it on the charts of the open one. */
export function RunList({ runs, current, colours, route }: RunListProps) {
  return (
    <nav class="runs" aria-label="Runs">
      <ul>
        {runs.map((run) => (
          <RunItem
            key={run.id}
            run={run}
            isCurrent={run.id === current?.id}
            colour={colours.get(run.id)}
            route={route}
          />
        ))}
      </ul>
    </nav>
  );
}

interface RunItemProps {
  run: RunHead;
  isCurrent: boolean;
  /** Undefined for a run that is not on the charts. */
  colour: number | undefined;
  route: Route;
}

function RunItem({ run, isCurrent, colour, route }: RunItemProps) {
  const name = escapeUnseen(run.name);
  const laid = overlaid(route);
  const toggle = (): void => {
    const ids = laid.includes(run.id) ? laid.filter((id) => id !== run.id) : [...laid, run.id];
    adjust({ ...route, query: { ...route.query, with: ids.join(',') } });
  };
  const to = within(route, { run: run.id, view: route.view, query: { with: laid.join(',') } });
  return (
    <li class={isCurrent ? 'run current' : 'run'}>
      <input
        type="checkbox"
        checked={colour !== undefined}
        disabled={isCurrent}
        aria-label={`Overlay ${name} on the charts`}
        onChange={toggle}
      />
      <a href={hashOf(to)} aria-current={isCurrent ? 'true' : undefined}>
        <span class="name">
          {colour !== undefined && <span class={`swatch ${colourClass(colour)}`} />}
          {name}
        </span>
        <span class="facts">
          <span class={`state ${run.state}`}>{run.state}</span>
          <span>
            {run.iteration}
            {run.plannedIterations !== null && `/${run.plannedIterations}`}
          </span>
          <Headline run={run} />
        </span>
      </a>
    </li>
  );
}

function Headline({ run: { headline } }: { run: RunHead }) {
  const { before = null, after = null } = headline ?? {};
  if (before === null && after === null) return null;
  return (
    <span title="Success on held-out tasks before and after training">
      {before === null ? '?' : formatShare(before.value)} →{' '}
      {after === null ? '?' : formatShare(after.value)}
    </span>
  );
}
