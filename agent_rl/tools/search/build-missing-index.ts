import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { packageRoot } from '../../core/package-root.ts';
import { buildCorpus, type CorpusSettings } from '../../search/corpus/index.ts';
import { readDocuments } from '../../../dataset/search-documents.ts';

/**
 * Builds the index from `corpus.documents` when its folder is not there yet. One that is there must be of these very
 * documents and settings.
 *
 * @throws AgentRlError `DATASET_INVALID` when the documents are missing or wrong, `CORPUS_MISMATCH` when the index is
 *   of others, and as `buildCorpus` does
 */
export async function buildMissingIndex({ path, documents, dense }: CorpusSettings): Promise<void> {
  if (documents === undefined) return;
  const file = documentsFile(documents);
  const read = await readDocuments(file);
  await buildCorpus({
    source: {
      sha256: createHash('sha256').update(JSON.stringify(read)).digest('hex'),
      files: [documents],
      read: () => read.map((document) => ({ document })),
    },
    output: path,
    settings: dense === undefined ? {} : { dense },
    version: ownVersion(),
  });
}

/** Relative to the working directory; what the package ships is found from anywhere. */
function documentsFile(named: string): string {
  const shipped = join(packageRoot(), named);
  return !existsSync(resolve(named)) && existsSync(shipped) ? shipped : resolve(named);
}

function ownVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return String((JSON.parse(text) as { readonly version?: unknown }).version);
}
