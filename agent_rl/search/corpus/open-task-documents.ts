import { AgentRlError } from '../../core/errors.ts';
import type { Embedder, SearchBackend, SearchDocument } from '../../core/services/search.ts';
import { makeChunker } from './chunk-document.ts';
import { checkSettings } from './check-settings.ts';
import { openBackend } from './corpus-backend.ts';
import { inLance } from './lance.ts';
import type { OpenCorpusOptions } from './open-embedder.ts';
import { type Passage, searchedText } from './passage.ts';
import type { PassageTable } from './passage-table.ts';
import { PassageTableWriter } from './passage-table-writer.ts';
import type { TaskDocumentsSettings } from './settings.ts';

/**
 * Searches the documents of one task, in memory and alone: no other search sees them, and `close` frees them.
 *
 * @throws AgentRlError `DATASET_INVALID` for two documents of one id, `CONFIG_INVALID`, `EMBEDDER_UNAVAILABLE`
 */
export async function openTaskDocuments(
  documents: readonly SearchDocument[],
  settings: TaskDocumentsSettings = {},
  options: OpenCorpusOptions = {},
): Promise<SearchBackend> {
  rejectDuplicateIds(documents);
  checkSettings(settings.text === undefined ? {} : { text: settings.text });
  const chunk = await makeChunker(settings.chunking);
  const passages = documents.flatMap((document) => chunk(document));
  if (passages.length === 0) return { search: async () => [], close: async () => {} };
  return openBackend(settings, options, (embedder) => tableOf(passages, settings, embedder));
}

async function tableOf(
  passages: readonly Passage[],
  { text = {} }: TaskDocumentsSettings,
  embedder: Embedder | undefined,
): Promise<PassageTable> {
  const vectors = (await embedder?.embed(passages.map(searchedText), 'passage')) ?? [];
  return inLance(async () => {
    const dimensions = vectors[0]?.length ?? 0;
    const options = { text, dimensions, annFrom: Infinity };
    const { table } = await PassageTableWriter.write('memory://', options, (writer) =>
      writer.add(passages, vectors),
    );
    return table;
  });
}

function rejectDuplicateIds(documents: readonly SearchDocument[]): void {
  const known = new Set<string>();
  for (const { id } of documents) {
    if (known.has(id)) {
      throw new AgentRlError(
        'DATASET_INVALID',
        `Two documents of one task have the id ${JSON.stringify(id)}. Give each document its own id.`,
      );
    }
    known.add(id);
  }
}
