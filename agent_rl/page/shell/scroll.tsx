import type { ComponentChildren } from 'preact';

interface ScrollProps {
  /** What scrolls, for those who do not see it. */
  label: string;
  /** Scrolls down as well, past a height. */
  isLow?: boolean | undefined;
  children: ComponentChildren;
}

/** Something wide: it scrolls by itself, with keys too. */
export const Scroll = ({ label, isLow = false, children }: ScrollProps) => (
  <div class={isLow ? 'scroll low' : 'scroll'} role="region" aria-label={label} tabIndex={0}>
    {children}
  </div>
);
