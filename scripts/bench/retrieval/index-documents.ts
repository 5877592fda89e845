import type { Embedder, SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { buildCorpus } from '../../../agent_rl/search/corpus/index.ts';
import { secondsOf } from '../statistics.ts';

type Build = Parameters<typeof buildCorpus>[0];

/** Builds an index of documents: how many passages it has, and the seconds it took, vectors included. */
export async function indexDocuments(
  documents: readonly SearchDocument[],
  options: Pick<Build, 'settings'> & { output: string; embedder: Embedder },
): Promise<{ passages: number; indexS: number }> {
  const { output } = options;
  const read = () => documents.map((document) => ({ document }));
  const source = { sha256: output, files: [output], read };
  let passages = 0;
  const indexS = await secondsOf(async () => {
    const { manifest } = await buildCorpus({ ...options, source, version: 'bench' });
    passages = manifest.counts.passages;
  });
  return { passages, indexS };
}
