import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';

import { messageOf } from '../../../core/errors.ts';
import type { Unreadable } from '../../episodes/read-lines.ts';
import { readAppended, readAt } from './read-appended.ts';

/** How much of a file is indexed, and by what it is known again. */
export interface FileMark {
  /** Of the whole lines that were read. */
  bytes: number;
  lines: number;
  /** When the file was written last, in milliseconds, at the last reading. */
  mtimeMs: number;
  /** Place and SHA-256 of the last whole line: a resumed run cuts its files and writes on. */
  last: { offset: number; bytes: number; sha256: string } | null;
}

export const nothingRead: FileMark = { bytes: 0, lines: 0, mtimeMs: 0, last: null };

/** What changed since a mark was set: nothing, lines at the end, or lines that were read. */
export type Change = 'none' | 'grown' | 'rewritten';

/** Compares a file with its mark. */
export async function changeOf(file: string, mark: FileMark): Promise<Change> {
  if (!existsSync(file)) return mark.bytes === 0 ? 'none' : 'rewritten';
  const { size, mtimeMs } = await stat(file);
  if (size < mark.bytes) return 'rewritten';
  if (mtimeMs === mark.mtimeMs && size === mark.bytes) return 'none';
  if (!(await sameLast(file, mark))) return 'rewritten';
  // Written to without growing: only a change of what was read can be meant.
  if (size === mark.bytes && mark.bytes > 0) return 'rewritten';
  return size > mark.bytes ? 'grown' : 'none';
}

async function sameLast(file: string, { last }: FileMark): Promise<boolean> {
  if (last === null) return true;
  return sha256(await readAt(file, last.offset, last.bytes)) === last.sha256;
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export interface ReadLine {
  /** From 0. */
  line: number;
  offset: number;
  bytes: Buffer;
}

/**
 * Reads the lines after a mark.
 *
 * @param until bytes after which nothing is read this time
 * @param use throws for a line that cannot be used, which is then counted
 * @param told how far it has come, in bytes
 * @returns the new mark
 */
export async function readOn(
  file: string,
  mark: FileMark,
  {
    until = Infinity,
    use,
    unreadable,
    told = () => undefined,
  }: {
    until?: number;
    use: (line: ReadLine) => void;
    unreadable: Unreadable;
    told?: (bytes: number) => void;
  },
): Promise<FileMark> {
  const { mtimeMs } = await stat(file);
  let { lines } = mark;
  let last: { offset: number; bytes: Buffer | undefined } | undefined;
  const bytes = await readAppended(file, { from: mark.bytes, until }, (one) => {
    const line = lines++;
    last = one;
    try {
      if (one.bytes === undefined) throw new Error('it is too long');
      use({ line, offset: one.offset, bytes: one.bytes });
    } catch (thrown) {
      const [place, why] = [`${file}:${line + 1}`, messageOf(thrown)];
      unreadable.add(why.includes(place) ? why : `${place}: ${why}`);
    }
    told(one.offset + (one.bytes?.length ?? 0));
  });
  if (last === undefined) return { ...mark, mtimeMs };
  const { offset } = last;
  const whole = last.bytes ?? (await readAt(file, offset, Math.min(2 ** 20, bytes - 1 - offset)));
  return {
    bytes,
    lines,
    mtimeMs,
    last: { offset, bytes: whole.length, sha256: sha256(whole) },
  };
}
