/** The views of the page. */
export const views = ['overview', 'episodes', 'tasks', 'run', 'compare'] as const;

export type View = (typeof views)[number];

/** The address, all of it in the hash, since a static export has no other addresses. */
export interface Route {
  /** Id of the open run; null for the first in the list. */
  run: string | null;
  view: View;
  /** Id of an episode or a task, percent-encoded as in the address; null for the list. */
  item: string | null;
  query: Readonly<Record<string, string>>;
}

const isView = (text: string): text is View => (views as readonly string[]).includes(text);

/** Reads `#/runs/ID/episodes/train/3/task-17/2?view=tokens`; anything unknown is the overview. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = splitOnce(hash.replace(/^#/, ''), '?');
  const query = Object.fromEntries(new URLSearchParams(search));
  const [room, ...rest] = path.split('/').filter((part) => part !== '');
  if (room === 'compare') return { run: rest[0] ?? null, view: 'compare', item: null, query };
  const [run = null, view = 'overview', ...item] = room === 'runs' ? rest : [];
  return {
    run,
    view: isView(view) ? view : 'overview',
    item: item.length === 0 ? null : item.join('/'),
    query,
  };
}

/** The address of a route, `#` included, without empty query entries. */
export function hashOf({ run, view, item, query }: Route): string {
  const path =
    view === 'compare'
      ? ['compare', ...(run === null ? [] : [run])]
      : run === null
        ? []
        : ['runs', run, ...(view === 'overview' ? [] : [view]), ...(item === null ? [] : [item])];
  const entries = Object.entries(query).filter(([, value]) => value !== '');
  const search = new URLSearchParams(entries).toString();
  return `#/${path.join('/')}${search === '' ? '' : `?${search}`}`;
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** The runs overlaid on the open one. */
export const overlaid = ({ query }: Route): readonly string[] =>
  (query['with'] ?? '').split(',').filter((id) => id !== '');

/** Another route with the same overlaid runs; the rest of the query is dropped. */
export const within = (route: Route, to: Partial<Route>): Route => ({
  run: route.run,
  view: 'overview',
  item: null,
  ...to,
  query: { with: route.query['with'] ?? '', ...to.query },
});
