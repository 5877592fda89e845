import { useEffect, useState } from 'preact/hooks';

export const themes = ['auto', 'light', 'dark'] as const;

export type Theme = (typeof themes)[number];

const key = 'agent-rl-theme';
const darkWanted = '(prefers-color-scheme: dark)';

/** The theme that the reader chose, and whether the page is dark with it. */
export function useTheme(): { theme: Theme; isDark: boolean; choose: (theme: Theme) => void } {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const [prefersDark, setPrefersDark] = useState(matchMedia(darkWanted).matches);
  useEffect(() => {
    const media = matchMedia(darkWanted);
    const changed = (): void => setPrefersDark(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
    store(theme);
  }, [theme]);
  return { theme, isDark: theme === 'auto' ? prefersDark : theme === 'dark', choose: setTheme };
}

/** A browser may refuse to store anything; then the theme is that of the system each time. */
function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(key);
    return themes.find((theme) => theme === stored) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // As above: nothing else depends on it.
  }
}
