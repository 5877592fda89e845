import { readdirSync, readFileSync } from 'node:fs';

/** A file of /proc; nothing when its process has ended. */
export function readProcess(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
}

/** The processes below one. Linux only. */
export function descendants(pid: number): readonly number[] {
  const parentOf = (each: number): number =>
    Number(/^PPid:\s+(\d+)/m.exec(readProcess(`/proc/${each}/status`))?.[1]);
  const children = readdirSync('/proc')
    .map(Number)
    .filter((each) => parentOf(each) === pid);
  return [...children, ...children.flatMap((child) => descendants(child))];
}
