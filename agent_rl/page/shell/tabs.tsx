import type { RunHead } from '../../runs/view/api.ts';
import { hashOf, type Route, type View, views, within } from '../routing/route.ts';

const titles: Readonly<Record<View, string>> = {
  overview: 'Overview',
  episodes: 'Episodes',
  tasks: 'Tasks',
  run: 'Run',
  compare: 'Compare',
};

/** The views of the open run. */
export function Tabs({ route, current }: { route: Route; current: RunHead }) {
  const { train, eval: heldOut } = current.episodes;
  return (
    <nav class="tabs" aria-label="Views">
      {views.map((view) => (
        <a
          key={view}
          href={hashOf(within(route, { run: current.id, view }))}
          aria-current={view === route.view ? 'page' : undefined}
        >
          {titles[view]}
          {view === 'episodes' && <small> {(train + heldOut).toLocaleString('en')}</small>}
        </a>
      ))}
    </nav>
  );
}
