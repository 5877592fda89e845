import type { PreparedRun } from '../../../agent_rl/compose/prepare-run.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { hitsOf } from '../../../agent_rl/core/services/search.ts';
import { openSearch } from '../../../agent_rl/tools/search/open-search.ts';
import { SearchTool } from '../../../agent_rl/tools/search/search-tool.ts';
import type { SearchSettings } from '../../../agent_rl/tools/search/settings.ts';
import type { ShownSearch } from '../../../dataset/demonstrations/retrieval-demonstrations.ts';

/** A run's own search tool. */
export interface OpenedSearch {
  search: ShownSearch;
  close: () => Promise<void>;
}

/** Opens the tool `search` of a run. */
export async function openRunSearch({ chosen }: PreparedRun): Promise<OpenedSearch> {
  const settings = chosen.tools.find(({ entry }) => entry.spec.name === 'search')?.settings;
  const shared = await openSearch(settings as SearchSettings, { environment: process.env });
  const tool = new SearchTool({ shared, settings: settings as SearchSettings });
  const random = new KeyedRng('questions searched for');
  const search: ShownSearch = async (query) => {
    const context = {
      signal: new AbortController().signal,
      random,
      idempotencyKey: '',
      inputs: {},
    };
    const result = await tool.call({ query }, context);
    return { content: result.content, hits: hitsOf(result) ?? [] };
  };
  return { search, close: () => shared.close() };
}
