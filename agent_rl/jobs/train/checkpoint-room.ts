import { existsSync, readdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
import { nearestExisting } from '../../telemetry/atomic-write.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';

/** Weights and the optimiser's two moments, each in float32. Tokenizer and state are small beside them. */
const bytesPerTrained = 3 * 4;

/** What the checkpoints of a run take on disk, in bytes. */
export interface CheckpointRoom {
  each: number;
  /** Of all that are left when the run has ended. */
  kept: number;
  /** While one is written: what it replaces is deleted afterwards. */
  most: number;
}

/** What checkpoints will take. `trained` is the number of parameters that learn. */
export function checkpointRoom(
  { config, length: { last } }: Pick<ResolvedRun, 'config' | 'length'>,
  trained: number,
): CheckpointRoom {
  const { every, keepLast, keepBest } = config.checkpoint;
  const written = every === 0 ? 1 : Math.ceil(last / every);
  const kept = Math.min(written, keepLast) + Number(keepBest);
  // The best one stays until a better one is whole; so does the oldest until the newest is.
  const most = kept + (keepBest || written > keepLast ? 1 : 0);
  // At lag 1 also the weights that draw the next collection.
  const each = (bytesPerTrained + 4 * config.async.lag) * trained;
  return { each, kept: kept * each, most: most * each };
}

/** Bytes that may still be written to the disk of a folder, which need not exist yet. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(nearestExisting(folder));
  return bavail * bsize;
}

/** What checkpoints may take in all: what is free, and what those have that a resumed run holds already. */
export async function bytesForCheckpoints(
  { path, checkpoints }: Pick<RunFolder, 'path' | 'checkpoints'>,
  each: number,
): Promise<number> {
  const held = existsSync(checkpoints) ? readdirSync(checkpoints).length : 0;
  return (await freeBytes(path)) + held * each;
}

/** The line of a plan, and a warning where the disk of the output folder has less room. */
export function roomText(
  { each, kept, most }: CheckpointRoom,
  free: number,
  folder: string,
): string[] {
  const several = `, ${mebibytes(kept)} for those that are kept, ${mebibytes(most)} while another is written`;
  const text = `about ${mebibytes(each)} each${most === each ? '' : several}`;
  const line = `  checkpoints   ${text}`;
  if (most <= free) return [line];
  return [
    line,
    `  warning       the disk of ${folder} has only ${mebibytes(free)} left: free some space, lower checkpoint.keepLast, or choose another disk with --output`,
  ];
}
