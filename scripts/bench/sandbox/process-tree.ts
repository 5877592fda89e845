import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What all processes below this one hold. */
export interface TreeUse {
  processes: number;
  descriptors: number;
  rssBytes: number;
}

/** Of the processes below this one and of this one's descriptors. Linux only. */
export function treeUse(): TreeUse {
  const below = descendants(process.pid);
  const all = [process.pid, ...below];
  return {
    processes: below.length,
    descriptors: sum(all.map((pid) => listed(join('/proc', String(pid), 'fd')).length)),
    rssBytes: sum(below.map(rssOf)),
  };
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

function descendants(pid: number): number[] {
  const tasks = listed(join('/proc', String(pid), 'task'));
  const children = tasks.flatMap((task) =>
    readText(join('/proc', String(pid), 'task', task, 'children'))
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );
  return [...children, ...children.flatMap(descendants)];
}

const rssOf = (pid: number): number =>
  1024 * Number(/VmRSS:\s+(\d+)/.exec(readText(join('/proc', String(pid), 'status')))?.[1] ?? 0);

/** A process may end while it is looked at; it then holds nothing. */
function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
