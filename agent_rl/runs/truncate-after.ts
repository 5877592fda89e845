import { existsSync, readFileSync } from 'node:fs';

import { AgentRlError, messageOf } from '../core/errors.ts';
import { isRecord } from '../core/is-record.ts';
import { visibleControls, writeFileAtomic } from '../telemetry/index.ts';
import type { RunFolder } from './run-folder.ts';

/**
 * Cuts the metrics that a run recorded after an iteration, so that a run resumed from there records each iteration once; all
 * of them before the first, -1. A last line that was cut short goes too.
 *
 * @returns what was repaired, a sentence each.
 * @throws AgentRlError `CHECKPOINT_INVALID` for a line that cannot be read, `OUTPUT_UNWRITABLE`
 */
export function truncateAfter(
  { metrics: file }: Pick<RunFolder, 'metrics'>,
  iteration: number,
): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  const isTorn = lines.pop() !== '';
  const kept = lines.filter((line, at) => iterationOf(line, `${file}:${at + 1}`) <= iteration);
  writeFileAtomic(file, kept.map((line) => `${line}\n`).join(''));
  return isTorn ? [`${file}: removed the incomplete last line.`] : [];
}

/** @throws AgentRlError `CHECKPOINT_INVALID` */
function iterationOf(line: string, place: string): number {
  try {
    const record: unknown = JSON.parse(line);
    if (isRecord(record) && typeof record['iteration'] === 'number') return record['iteration'];
    throw new Error('it has no iteration');
  } catch (cause) {
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${place} is not a record of the run (${messageOf(cause)}): ${visibleControls(line.slice(0, 60))}. Restore the line from a backup and resume again. Without a backup, delete the line: the metrics of one iteration are lost, and training does not need them.`,
      { cause },
    );
  }
}
