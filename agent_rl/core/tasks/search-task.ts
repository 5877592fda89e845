import type { SearchDocument } from '../services/search.ts';
import type { Task } from './task.ts';

/** A question to answer by searching. */
export interface SearchTask extends Task {
  /** What a right answer says. */
  readonly answer: string;
  /** Other wordings of the answer that count as well. */
  readonly aliases: readonly string[];
  /** The documents the answer follows from, by id, in the order they are needed. */
  readonly documentIds: readonly string[];
  /** Documents contained in the row itself. An episode with such documents only searches these. */
  readonly documents: readonly SearchDocument[];
}
