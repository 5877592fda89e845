import { readdirSync, readFileSync } from 'node:fs';

/** The processes below this one, their memory, and the descriptors of all with this one. */
export interface TreeUse {
  processes: number;
  descriptors: number;
  rssBytes: number;
}

/** Linux only. */
export function treeUse(): TreeUse {
  const below = descendants(String(process.pid));
  const all = [String(process.pid), ...below];
  return {
    processes: below.length,
    descriptors: sum(all.map((pid) => orNone(() => readdirSync(`/proc/${pid}/fd`)).length)),
    rssBytes: sum(below.map(rssOf)),
  };
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

function descendants(pid: string): string[] {
  const tasks = orNone(() => readdirSync(`/proc/${pid}/task`));
  const children = tasks.flatMap((task) => wordsIn(`/proc/${pid}/task/${task}/children`));
  return [...children, ...children.flatMap(descendants)];
}

function rssOf(pid: string): number {
  const words = wordsIn(`/proc/${pid}/status`);
  const at = words.indexOf('VmRSS:');
  return at < 0 ? 0 : 1024 * Number(words[at + 1]);
}

const wordsIn = (file: string): string[] =>
  orNone(() => readFileSync(file, 'utf8').split(/\s+/).filter(Boolean));

/** A process may end while it is looked at; it then holds nothing. */
function orNone(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
