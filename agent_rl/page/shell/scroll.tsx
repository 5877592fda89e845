import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface ScrollProps {
  /** What scrolls, for screen readers. */
  label: string;
  /** Scrolls vertically as well, past a height. */
  isLow?: boolean | undefined;
  children: ComponentChildren;
}

/** Wide content that scrolls by itself, also with keys. An arrow at the right edge shows that there is more. */
export function Scroll({ label, isLow = false, children }: ScrollProps) {
  const place = useRef<HTMLDivElement>(null);
  const [isCut, setCut] = useState(false);
  const measure = (): void => {
    const { scrollWidth = 0, clientWidth = 0, scrollLeft = 0 } = place.current ?? {};
    setCut(scrollWidth - clientWidth - scrollLeft > 2);
  };
  useEffect(() => {
    const resized = new ResizeObserver(measure);
    for (const element of [place.current, place.current?.firstElementChild])
      if (element) resized.observe(element);
    return () => resized.disconnect();
  }, []);
  return (
    <div class={isCut ? 'scroll-frame cut' : 'scroll-frame'}>
      <div
        ref={place}
        class={isLow ? 'scroll low' : 'scroll'}
        role="region"
        aria-label={label}
        tabIndex={0}
        onScroll={measure}
      >
        {children}
      </div>
    </div>
  );
}
