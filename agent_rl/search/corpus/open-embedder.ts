import type { Embedder } from './embedder.ts';
import type { DenseSettings } from './settings.ts';

/**
 * The embedder that settings name.
 *
 * @throws AgentRlError `EMBEDDER_UNAVAILABLE` when its package, files or server are not there
 */
export async function openEmbedder(settings: Exclude<DenseSettings, 'none'>): Promise<Embedder> {
  throw new Error(`Not written yet: ${settings.type}`);
}
