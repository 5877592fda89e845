import { useEffect, useState } from 'preact/hooks';

import { hashOf, parseRoute, type Route } from './route.ts';

/** The current route. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return parseRoute(hash);
}

/** Opens a route, as a link does. */
export function go(route: Route): void {
  location.hash = hashOf(route);
}

/** Changes the address without adding to the browser's history, for filters and modes. */
export function adjust(route: Route): void {
  const url = new URL(location.href);
  url.hash = hashOf(route);
  history.replaceState(history.state, '', url);
  dispatchEvent(new HashChangeEvent('hashchange'));
}
