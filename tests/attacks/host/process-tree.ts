import { readdirSync, readFileSync } from 'node:fs';

/** Only Linux shows processes without starting a program. */
export const canSeeProcesses: boolean = process.platform === 'linux';

const pageBytes = 4096;

export interface SeenProcess {
  pid: number;
  parent: number;
  /** At most 15 characters; a process may change it. */
  name: string;
  residentBytes: number;
}

function readProcess(pid: string): SeenProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in brackets and may hold anything, brackets too.
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    // It has ended, and its parent has not waited for it.
    if (fields[0] === 'Z') return undefined;
    const name = stat.slice(stat.indexOf('(') + 1, end);
    const [parent, residentBytes] = [Number(fields[1]), Number(fields[21]) * pageBytes];
    return { pid: Number(pid), name, parent, residentBytes };
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

export const allProcesses = (): readonly SeenProcess[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(pid) ?? []);

/** The children of a process, theirs, and so on. */
export function descendantsOf(root: number, all = allProcesses()): readonly SeenProcess[] {
  const found: SeenProcess[] = [];
  const family = new Set([root]);
  // Numbers of processes wrap around, so a child may come before its parent.
  for (let before = -1; before !== family.size;) {
    before = family.size;
    for (const seen of all) {
      if (family.has(seen.pid) || !family.has(seen.parent)) continue;
      family.add(seen.pid);
      found.push(seen);
    }
  }
  return found;
}

/** Shared memory and files in memory, which belong to no process, and the memory available for new programs. */
export function machineMemory(): { sharedBytes: number; availableBytes: number } {
  const text = readFileSync('/proc/meminfo', 'utf8');
  const read = (name: string): number =>
    1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]);
  return { sharedBytes: read('Shmem'), availableBytes: read('MemAvailable') };
}
