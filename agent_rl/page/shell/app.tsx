import { useEffect, useMemo, useState } from 'preact/hooks';

import { unreachable } from '../../core/unreachable.ts';
import type { RunHead } from '../../runs/view/api.ts';
import { runColours } from '../charts/run-colours.ts';
import { Compare } from '../compare/compare.tsx';
import { type Link, useRuns } from '../data/use-runs.ts';
import { Episode } from '../episode/episode.tsx';
import { Episodes } from '../episodes/episodes.tsx';
import { Overview } from '../overview/overview.tsx';
import { overlaid, type Route, views, within } from '../routing/route.ts';
import { go, useRoute } from '../routing/use-route.ts';
import { Run } from '../run/run.tsx';
import { Task } from '../tasks/task.tsx';
import { Tasks } from '../tasks/tasks.tsx';
import { Header } from './header.tsx';
import { Help } from './help.tsx';
import { useKeys } from './keys.ts';
import { Problem } from './problem.tsx';
import { RunList } from './run-list.tsx';
import { Tabs } from './tabs.tsx';
import { useTheme } from './theme.ts';

/** The whole page. */
export function App() {
  const route = useRoute();
  const { runs, problem, link } = useRuns();
  const { theme, choose } = useTheme();
  const [isHelpOpen, setHelp] = useState(false);
  const current = route.run === null ? runs?.[0] : runs?.find(({ id }) => id === route.run);
  const shown = shownRuns(runs ?? [], current, route);
  const listed = runs?.map(({ id }) => id).join(' ') ?? '';
  const chosen = shown.map(({ id }) => id).join(' ');
  const colours = useMemo(() => runColours(listed.split(' '), chosen.split(' ')), [listed, chosen]);
  const to = (at: number) => () => {
    const view = views[at];
    if (view && current) go(within(route, { run: current.id, view }));
  };
  useKeys({
    ...Object.fromEntries(views.map((_, at) => [String(at + 1), to(at)])),
    '?': () => setHelp(true),
  });
  useEffect(() => {
    document.title = current === undefined ? 'agent_rl runs' : `${current.name} · agent_rl`;
  }, [current?.name]);
  return (
    <>
      <Header link={link} theme={theme} choose={choose} openHelp={() => setHelp(true)} />
      <RunList runs={runs ?? []} current={current} colours={colours} route={route} />
      <main>
        <Problem text={problem} />
        {current && <Tabs route={route} current={current} />}
        {current ? (
          <Room runs={runs ?? []} current={current} shown={shown} colours={colours} route={route} />
        ) : (
          <Nothing runs={runs} route={route} link={link} />
        )}
      </main>
      {isHelpOpen && <Help close={() => setHelp(false)} />}
    </>
  );
}

function shownRuns(
  runs: readonly RunHead[],
  current: RunHead | undefined,
  route: Route,
): readonly RunHead[] {
  if (current === undefined) return [];
  const laid = overlaid(route);
  return [current, ...runs.filter(({ id }) => id !== current.id && laid.includes(id))];
}

interface RoomProps {
  runs: readonly RunHead[];
  current: RunHead;
  shown: readonly RunHead[];
  colours: ReadonlyMap<string, number>;
  route: Route;
}

function Room({ runs, current, shown, colours, route }: RoomProps) {
  const { view, item } = route;
  const { id } = current;
  switch (view) {
    case 'overview':
      return <Overview key={id} current={current} shown={shown} colours={colours} />;
    case 'episodes':
      return item === null ? (
        <Episodes key={id} run={current} route={route} />
      ) : (
        <Episode key={`${id} ${item}`} run={current} runs={runs} route={route} id={item} />
      );
    case 'tasks':
      return item === null ? (
        <Tasks key={id} run={current} route={route} />
      ) : (
        <Task key={`${id} ${item}`} run={current} runs={runs} route={route} item={item} />
      );
    case 'run':
      return <Run key={id} run={current} route={route} />;
    case 'compare':
      return <Compare runs={runs} shown={shown} colours={colours} route={route} />;
    default:
      return unreachable(view);
  }
}

function Nothing({ runs, route, link }: { runs: Runs; route: Route; link: Link }) {
  if (runs === undefined)
    return link.state === 'lost' ? null : <p class="waiting">Reading runs …</p>;
  if (runs.length === 0) return <p class="waiting">There are no runs here yet.</p>;
  return <Problem text={`Run ${route.run} not found. Pick one from the list.`} />;
}

type Runs = readonly RunHead[] | undefined;
