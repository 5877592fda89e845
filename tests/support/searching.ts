import { validateBlock } from '#agent_rl/config/index.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { ToolContext } from '#agent_rl/core/plugins/tool.ts';
import { openSearch } from '#agent_rl/tools/search/open-search.ts';
import { SearchTool } from '#agent_rl/tools/search/search-tool.ts';
import { SearchSettings } from '#agent_rl/tools/search/settings.ts';
import type { Answer, WebServer } from './web-server.ts';

/** The context of a call of an episode. */
export const callOf = (call: number, sample = 0): ToolContext => ({
  signal: new AbortController().signal,
  inputs: {},
  idempotencyKey: 'call',
  random: new KeyedRng(1, 'tool', 'task', sample, call),
});

/** Searches the web as the tool does, where a server of this machine stands for every provider. */
export function searching(server: WebServer, environment: NodeJS.ProcessEnv) {
  const settingsOf = (web: object, more: object = {}): SearchSettings =>
    validateBlock(
      SearchSettings,
      { mode: 'web', web: { endpoint: `${server.origin}/search`, ...web }, ...more },
      { path: 'tools.0', places: new Map() },
    );

  /** One search by a tool of its own: what came of it, and how long it took. */
  async function searched(web: object, answer: Answer, more: object = {}) {
    server.answer = answer;
    server.received.length = 0;
    const settings = settingsOf(web, more);
    const shared = await openSearch(settings, { environment });
    try {
      const started = performance.now();
      const tool = new SearchTool({ shared, settings });
      const result = await tool.call({ query: ' who  built\nit? ' }, callOf(0));
      return { result, seconds: (performance.now() - started) / 1000 };
    } finally {
      await shared.close();
    }
  }
  return { settingsOf, searched };
}
