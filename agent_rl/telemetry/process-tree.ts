import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { nodeCodeOf } from '../core/errors.ts';

/** What a process and those it started use. */
export interface ProcessUsage {
  /** Resident bytes, summed; pages that processes share count once for each. */
  rssBytes: number;
  /** Processor seconds, user and system, of what still runs and of what was waited for. */
  cpuSeconds: number;
  /** `own-process` where this system does not tell which processes are ours. */
  scope: 'process-tree' | 'own-process';
}

interface ProcessRow {
  pid: number;
  parent: number;
  rssBytes: number;
  cpuSeconds: number;
}

/** Adds up a process and its descendants; `undefined` when the process is not among the rows. */
export function sumTree(rows: readonly ProcessRow[], root: number) {
  const children = new Map<number, ProcessRow[]>();
  for (const row of rows) children.set(row.parent, [...(children.get(row.parent) ?? []), row]);
  const own = rows.filter(({ pid }) => pid === root);
  if (own.length === 0) return undefined;
  let [rssBytes, cpuSeconds] = [0, 0];
  for (let level = own; level.length > 0;) {
    for (const row of level) {
      rssBytes += row.rssBytes;
      cpuSeconds += row.cpuSeconds;
    }
    level = level.flatMap(({ pid }) => children.get(pid) ?? []);
  }
  return { rssBytes, cpuSeconds };
}

// The kernel's USER_HZ, which is 100 on every architecture Node runs on.
const ticksPerSecond = 100;

const readText = (file: string): string => readFileSync(file, 'utf8');

/**
 * One process by `/proc/<pid>`, or nothing when it ended meanwhile or is another user's on a system that hides those
 * (`hidepid`): a process that we may not inspect was not started by us.
 */
export function linuxRow(pid: string, read = readText): readonly ProcessRow[] {
  try {
    const stat = read(`/proc/${pid}/stat`);
    const status = read(`/proc/${pid}/status`);
    // The name in parentheses may hold spaces and parentheses: fields are counted from the last one.
    const [, ...fields] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0] = fields;
    const cpuSeconds = fields.slice(10, 14).reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond;
    const rssBytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
    return [{ pid: Number(pid), parent, rssBytes, cpuSeconds }];
  } catch (error) {
    if (/^(ENOENT|ESRCH|EACCES|EPERM)$/.test(nodeCodeOf(error))) return [];
    throw error;
  }
}

const seconds = (clock: string): number =>
  clock
    .replace('-', ':')
    .split(':')
    .reduceRight((sum, part, index, parts) => {
      const factor = [1, 60, 3600, 86400][parts.length - 1 - index] ?? 0;
      return sum + Number(part) * factor;
    }, 0);

/** Rows of `ps -axo pid=,ppid=,rss=,time=`, as on macOS and the BSDs. */
export function parsePs(output: string): readonly ProcessRow[] {
  return output
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 4)
    .map(([pid, parent, rss, time = '0']) => ({
      pid: Number(pid),
      parent: Number(parent),
      rssBytes: Number(rss) * 1024,
      cpuSeconds: seconds(time),
    }));
}

function ownProcess(): ProcessUsage {
  const { user, system } = process.cpuUsage();
  return {
    rssBytes: process.memoryUsage.rss(),
    cpuSeconds: (user + system) / 1e6,
    scope: 'own-process',
  };
}

/** What this process and those it started use now. */
export async function processTreeUsage(): Promise<ProcessUsage> {
  const sum = sumTree(await rowsOfSystem(), process.pid);
  return sum === undefined ? ownProcess() : { ...sum, scope: 'process-tree' };
}

async function rowsOfSystem(): Promise<readonly ProcessRow[]> {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => linuxRow(pid));
  }
  if (process.platform === 'win32') return [];
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,rss=,time=']);
  return parsePs(stdout);
}

export interface PeakMemory {
  peakRssBytes: number;
  /** Whether processes we started are counted in. */
  scope: ProcessUsage['scope'];
}

/** Watches the resident memory of the process tree and remembers its peak. */
export class ProcessTreeMemory {
  #peak: PeakMemory = { peakRssBytes: 0, scope: 'own-process' };
  #timer: NodeJS.Timeout | undefined;
  /** All samples so far; rejected for good once one has failed. */
  #samples: Promise<void> = Promise.resolve();

  constructor(private readonly usage: () => Promise<ProcessUsage> = processTreeUsage) {}

  /** Samples now and then every `intervalMs`, without keeping the process alive. */
  start(intervalMs = 500): void {
    const sample = (): void => {
      this.#samples = Promise.all([this.#samples, this.sample()]).then(() => undefined);
      this.#samples.catch(() => clearInterval(this.#timer));
    };
    sample();
    this.#timer = setInterval(sample, intervalMs);
    this.#timer.unref();
  }

  /** One sample; returns what is used now. */
  async sample(): Promise<ProcessUsage> {
    const usage = await this.usage();
    const peakRssBytes = Math.max(this.#peak.peakRssBytes, usage.rssBytes);
    this.#peak = { peakRssBytes, scope: usage.scope };
    return usage;
  }

  get peak(): PeakMemory {
    return this.#peak;
  }

  /** Stops without a last sample, whatever the state: for when a run ends early. */
  halt(): void {
    clearInterval(this.#timer);
  }

  /** Takes a last sample and stops. @throws what a sample threw meanwhile. */
  async stop(): Promise<PeakMemory> {
    clearInterval(this.#timer);
    await this.#samples;
    await this.sample();
    return this.peak;
  }
}
