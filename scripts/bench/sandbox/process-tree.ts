import { readdirSync } from 'node:fs';

import { sum } from '../../../agent_rl/algorithms/statistics.ts';
import { linuxRow } from '../../../agent_rl/telemetry/process-tree.ts';

/** The processes below this one, their memory, and the descriptors of all with this one. */
export type TreeUse = ReturnType<typeof treeUse>;

/** Linux only. */
export function treeUse() {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const rows = pids.flatMap((pid) => linuxRow(pid));
  const below = (parent: number): typeof rows =>
    rows.flatMap((row) => (row.parent === parent ? [row].concat(below(row.pid)) : []));
  const found = below(process.pid);
  return {
    processes: found.length,
    descriptors: sum([process.pid, ...found.map(({ pid }) => pid)].map(descriptorsOf)),
    rssBytes: sum(found.map(({ rssBytes }) => rssBytes)),
  };
}

/** A process may end while it is looked at; it then holds nothing. */
function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}
