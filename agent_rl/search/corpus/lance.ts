import { createRequire } from 'node:module';

import type * as Arrow from 'apache-arrow';
import type * as LanceDb from '@lancedb/lancedb';
import PQueue from 'p-queue';

import { abortable } from '../../core/stopping/abort.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';

export type Lance = typeof LanceDb;
export type { Arrow };

export interface LanceModules {
  lance: Lance;
  arrow: typeof Arrow;
}

/**
 * LanceDB and Arrow, loaded when first needed: they are large, and most runs search no corpus.
 *
 * @throws AgentRlError `CORPUS_INVALID` where the native library cannot be loaded
 */
export async function loadLance(): Promise<LanceModules> {
  // Read once, when the library starts: it warns twice a query otherwise.
  process.env['LANCEDB_LOG'] ??= 'error';
  try {
    const lance = await import('@lancedb/lancedb');
    // The Arrow that LanceDB itself requires. `import` gives another copy, whose tables LanceDB takes for empty.
    const arrow = createRequire(import.meta.url)('apache-arrow') as typeof Arrow;
    return { lance, arrow };
  } catch (cause) {
    throw new AgentRlError(
      'CORPUS_INVALID',
      `LanceDB cannot be loaded (${messageOf(cause)}), but corpus search needs it. Install @lancedb/lancedb for ${process.platform} ${process.arch}.`,
      { cause },
    );
  }
}

/** Searches this process has in LanceDB at once. 100 at once take 17 s together, 8 at a time 40 ms each. */
export const mostInFlight = 8;

let queue: PQueue | undefined;

/**
 * Does some work of LanceDB's when fewer than `mostInFlight` are under way in this process, whichever index
 * they are of. An aborted call stops waiting at once; its place is free when LanceDB is done with it.
 *
 * @throws the signal's reason when it is aborted
 */
export async function inLance<Result>(
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  signal?.throwIfAborted();
  queue ??= new PQueue({ concurrency: mostInFlight });
  // Not the queue's own `signal`: it gives an aborted call's place away while LanceDB is still at work.
  const result = queue.add(async () => {
    signal?.throwIfAborted();
    return work();
  });
  return abortable(result, signal);
}
