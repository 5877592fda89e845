import type { ModelConfig } from '../../model/config/architecture.ts';
import { weightBytes } from '../../model/adapters/weight-bytes.ts';

/** Larger weights are not copied for further threads by default. */
const largestCopied = 256 * 2 ** 20;

/** Whether weights are small enough that each thread that draws may have a copy of them. */
export const isCopiedForThreads = (config: ModelConfig): boolean =>
  weightBytes(config) <= largestCopied;

/**
 * Threads of a matrix product where tokens are drawn: one where several threads may draw, and otherwise the engine's (undefined). It may
 * not depend on how many threads draw or how many episodes there are: results could.
 */
export const decodingThreads = (config: ModelConfig): number | undefined =>
  isCopiedForThreads(config) ? 1 : undefined;

/** How many more episodes than another a thread may have to keep a task together, whose episodes share contexts. */
export const mostAhead = 8;

/** Rows of each of several threads that draw: its share, and room for episodes of a task that it has others of. */
export const rowsOfThread = (rows: number, decoders: number): number =>
  decoders === 1 ? rows : Math.min(rows, Math.ceil(rows / decoders) + mostAhead);
