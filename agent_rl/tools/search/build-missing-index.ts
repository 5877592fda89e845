import { namedOrShipped, packageVersion } from '../../core/package-root.ts';
import { buildCorpus, type CorpusSettings } from '../../search/corpus/index.ts';
import { readCorpus } from './read-corpus.ts';

/**
 * Builds the index from `corpus.documents` when its folder is not there yet, as `agent-rl index` does. One that is
 * there must be of these very documents and settings.
 *
 * @throws AgentRlError `DATASET_INVALID` when the documents are missing or wrong, `CORPUS_MISMATCH` when the index is
 *   of others, and as `buildCorpus` does
 */
export async function buildMissingIndex({ path, documents, dense }: CorpusSettings): Promise<void> {
  if (documents === undefined) return;
  const input = namedOrShipped(documents);
  const vectors =
    dense === undefined || dense === 'none' ? '' : ` --set 'dense=${JSON.stringify(dense)}'`;
  await buildCorpus({
    source: await readCorpus(input),
    output: path,
    settings: dense === undefined ? {} : { dense },
    version: packageVersion(),
    advice: `To search it as it is, leave corpus.documents out. To have one of these documents, delete it and run again, or replace it: agent-rl index ${input} --output ${path} --rebuild${vectors}`,
  });
}
