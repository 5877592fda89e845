import type { SearchBackend } from '../../core/services/search.ts';
import type { ToolHost, ToolShared } from '../../core/plugins/tool.ts';
import { openCorpusBackend } from '../../search/corpus/index.ts';
import { joinWebReports, openWebSearch } from '../../search/web/index.ts';
import { buildMissingIndex } from './build-missing-index.ts';
import type { SearchSettings } from './settings.ts';

/** What all search tools of a run share. */
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
    await buildMissingIndex(settings.corpus);
    const corpus = await openCorpusBackend(settings.corpus);
    return { backend: corpus, close: () => corpus.close() };
  }
  return { close: async () => {} };
}
