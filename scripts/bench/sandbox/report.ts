import { table } from '../../docs/markdown.ts';
import { fixed, type Machine, machineText, mebibytes } from '../bench-run.ts';
import type { TreeUse } from './process-tree.ts';
import type { CallerResult } from './run-callers.ts';

export interface SandboxReport {
  machine: Machine;
  rounds: number;
  runs: number;
  soak: number;
  /** By backend, for each number of callers: medians over rounds. */
  speed: Record<string, CallerResult[]>;
  /** Programs a second against a bare python's. */
  ratios: Record<string, { callers: number; overBare: number }[]>;
  /** Median milliseconds of one caller, by backend and way to ask. */
  ways: Record<string, Record<string, number>>;
  /** What the process tree holds before and after many programs. */
  soaks: Record<string, Record<'before' | 'after', TreeUse>>;
}

/** A report as Markdown. */
export function sandboxText({ machine, speed, ratios, ways, soaks, soak }: SandboxReport): string {
  const rows = Object.entries(speed).flatMap(([name, results]) =>
    results.map(({ callers, perSecond, medianMs, p95Ms }, i) => [
      name,
      String(callers),
      fixed(perSecond),
      fixed(medianMs, 1),
      fixed(p95Ms, 1),
      ratios[name]?.[i]?.overBare.toFixed(2) ?? '1',
    ]),
  );
  const header = ['backend', 'callers', 'programs/s', 'median ms', 'p95 ms', 'above bare python3'];
  return [
    machineText(machine),
    table(header, rows),
    ...Object.entries(ways).map(([tier, found]) => {
      const text = Object.entries(found).map(([way, ms]) => `${way} ${fixed(ms, 1)}`);
      return `${tier}, median ms of one caller: ${text.join(', ')}`;
    }),
    ...Object.entries(soaks).map(
      ([tier, { before, after }]) =>
        `${tier}, ${soak} programs by 4 callers: processes ${before.processes} -> ${after.processes}, descriptors ` +
        `${before.descriptors} -> ${after.descriptors}, resident ${mebibytes(before.rssBytes, 1)} -> ${mebibytes(after.rssBytes, 1)}`,
    ),
  ].join('\n');
}
