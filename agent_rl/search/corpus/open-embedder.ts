import { AgentRlError } from '../../core/errors.ts';
import type { Embedder } from '../../core/services/search.ts';
import { openOpenAiEmbedder } from './embedders/openai-embedder.ts';
import { openTransformersEmbedder } from './embedders/transformers-embedder.ts';
import type { DenseSettings } from './settings.ts';

export interface OpenCorpusOptions {
  /** Used instead of opening the one that `dense` names; it stays open when the backend closes. */
  embedder?: Embedder;
}

/**
 * The embedder that settings name.
 *
 * @throws AgentRlError `EMBEDDER_UNAVAILABLE` when its package, files or key are not there
 */
export async function openEmbedder(settings: Exclude<DenseSettings, 'none'>): Promise<Embedder> {
  return settings.type === 'transformers'
    ? openTransformersEmbedder(settings)
    : openOpenAiEmbedder(settings);
}

interface HeldEmbedder {
  embedder?: Embedder;
  release(): Promise<void>;
}

/** The embedder to search with: the caller's, the one `dense` names, or none. */
export async function embedderFor(
  dense: DenseSettings | undefined,
  { embedder }: OpenCorpusOptions = {},
): Promise<HeldEmbedder> {
  if (embedder !== undefined && dense === 'none') {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `An embedder (${embedder.name}) was passed, but dense: none searches by words only. Remove dense, or pass no embedder.`,
    );
  }
  if (embedder !== undefined) return { embedder, release: async () => {} };
  if (dense === undefined || dense === 'none') return { release: async () => {} };
  const opened = await openEmbedder(dense);
  return { embedder: opened, release: () => opened.close() };
}
