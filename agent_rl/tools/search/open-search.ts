import { namedOrShipped, packageVersion } from '../../core/package-root.ts';
import type { SearchBackend } from '../../core/services/search.ts';
import type { ToolHost, ToolShared } from '../../core/plugins/tool.ts';
import {
  buildCorpus,
  type CorpusBuild,
  type CorpusSettings,
  openCorpusBackend,
} from '../../search/corpus/index.ts';
import { joinWebReports, openWebSearch } from '../../search/web/index.ts';
import { readCorpus } from './read-corpus.ts';
import type { SearchSettings } from './settings.ts';

/** The parts that all search tools of a run share. */
export interface SharedSearch extends ToolShared {
  /** Absent in `mode: task`, where every episode has its own. */
  backend?: SearchBackend;
}

/** Opens what a run's searches share. @throws AgentRlError of the index, the key or the cassette. */
export async function openSearch(
  settings: SearchSettings,
  { environment }: ToolHost,
): Promise<SharedSearch> {
  if (settings.web !== undefined) {
    const web = openWebSearch({ settings: settings.web, scope: 'search', environment });
    return {
      backend: web,
      report: () => web.report(),
      joinReports: joinWebReports,
      close: () => web.close(),
    };
  }
  if (settings.corpus !== undefined) {
    const shortenedPassages = (await buildMissingIndex(settings.corpus))?.shortened ?? 0;
    const corpus = await openCorpusBackend(settings.corpus);
    return {
      backend: corpus,
      ...(shortenedPassages > 0 && { report: () => ({ shortenedPassages }) }),
      close: () => corpus.close(),
    };
  }
  return { close: async () => {} };
}

/**
 * Builds the index from `corpus.documents` when its folder is not there yet, as `agent-rl data index` does. One that is
 * there must be of these very documents and settings.
 *
 * @throws AgentRlError `DATASET_INVALID` when the documents are missing or wrong, `CORPUS_MISMATCH` when the index is
 *   of others, and as `buildCorpus` does
 */
export async function buildMissingIndex({
  path,
  documents,
  dense,
}: CorpusSettings): Promise<CorpusBuild | undefined> {
  if (documents === undefined) return undefined;
  const input = namedOrShipped(documents);
  const vectors =
    dense === undefined || dense === 'none' ? '' : ` --set 'dense=${JSON.stringify(dense)}'`;
  return buildCorpus({
    source: await readCorpus(input),
    output: path,
    settings: dense === undefined ? {} : { dense },
    version: packageVersion(),
    advice: `To search the existing index, remove corpus.documents. To index these documents, delete the folder and run again, or rebuild the index with agent-rl data index ${input} --output ${path} --rebuild${vectors}`,
  });
}
