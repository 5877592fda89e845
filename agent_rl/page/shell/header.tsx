import { unreachable } from '../../core/unreachable.ts';
import type { Link } from '../data/use-runs.ts';
import { type Theme, themes } from './theme.ts';

interface HeaderProps {
  link: Link;
  theme: Theme;
  choose: (theme: Theme) => void;
  openHelp: () => void;
}

/** The name of the page, the state of its connection, and the theme. */
export function Header({ link, theme, choose, openHelp }: HeaderProps) {
  return (
    <header class="page-head">
      <h1>agent_rl</h1>
      <span class={`link ${link.state}`} role="status">
        {words(link)}
      </span>
      <span class="space" />
      <label>
        Theme{' '}
        <select
          value={theme}
          onChange={({ currentTarget }) =>
            choose(themes.find((one) => one === currentTarget.value) ?? 'auto')
          }
        >
          {themes.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <button type="button" onClick={openHelp}>
        Keys <kbd>?</kbd>
      </button>
    </header>
  );
}

function words(link: Link): string {
  switch (link.state) {
    case 'connecting':
      return 'connecting …';
    case 'live':
      return 'live';
    case 'export':
      return 'exported copy';
    case 'lost':
      return `not live: ${link.why}`;
    default:
      return unreachable(link);
  }
}
