import { useEffect, useState } from 'preact/hooks';

export const themes = ['auto', 'light', 'dark'] as const;

export type Theme = (typeof themes)[number];

const key = 'agent-rl-theme';

/** The theme that the reader chose. */
export function useTheme(): { theme: Theme; choose: (theme: Theme) => void } {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
    store(theme);
  }, [theme]);
  return { theme, choose: setTheme };
}

/** If the browser refuses to store the choice, the next visit follows the system's theme. */
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
    // The theme still holds for this visit.
  }
}
