import type { SearchBackend } from '../../core/search.ts';
import type { Embedder } from './embedder.ts';
import type { CorpusSettings } from './settings.ts';

export interface OpenCorpusOptions {
  /** Used instead of opening the one that `dense` names; it stays open when the backend closes. */
  readonly embedder?: Embedder;
}

/**
 * Opens a built index for searching. Reads only; any number of searches may be in flight.
 *
 * @throws AgentRlError `CORPUS_INVALID` for a folder that is no index or a damaged one, `CORPUS_MISMATCH` for one
 *   built by another version or with another embedder, `EMBEDDER_UNAVAILABLE`
 */
export async function openCorpusBackend(
  settings: CorpusSettings,
  options: OpenCorpusOptions = {},
): Promise<SearchBackend> {
  throw new Error(`Not written yet: ${settings.path} ${String(options.embedder)}`);
}
