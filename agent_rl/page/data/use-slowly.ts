import { useEffect, useRef, useState } from 'preact/hooks';

const everyMs = 1500;

/** A value that changes often, updated at most every 1.5 seconds, so that a list does not reload with every episode. */
export function useSlowly<Value>(value: Value): Value {
  const [slow, setSlow] = useState(value);
  const changed = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, changed.current + everyMs - performance.now());
    const timer = setTimeout(() => {
      changed.current = performance.now();
      setSlow(value);
    }, wait);
    return () => clearTimeout(timer);
  }, [value]);
  return slow;
}
