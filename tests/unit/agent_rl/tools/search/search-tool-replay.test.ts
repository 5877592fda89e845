import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { ToolResult } from '#agent_rl/core/plugins/tool.ts';
import { openSearch } from '#agent_rl/tools/search/open-search.ts';
import { SearchTool } from '#agent_rl/tools/search/search-tool.ts';
import { searching } from '#tests/support/searching.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { json, webServer } from '#tests/support/web-server.ts';

const server = webServer();
const path = join(temporaryFolder(), 'cassette.jsonl');
const secret = 'exa-secret-5550123';

const { settingsOf } = searching(server, {});

/** Two turns of 64 episodes over 16 questions, all at once. */
async function played(mode: 'record' | 'replay', environment = {}) {
  const cassette = { mode, path };
  const web = { provider: 'exa', apiKeyEnv: 'KEY_OF_TEST', maxRetries: 0, cassette };
  const settings = settingsOf(web, { topK: 3 });
  const shared = await openSearch(settings, { environment });
  try {
    const episode = async (index: number): Promise<ToolResult[]> => {
      const tool = new SearchTool({ shared, settings });
      const results: ToolResult[] = [];
      for (let turn = 0; turn < 2; turn++) {
        const random = new KeyedRng(7, 'tool', `task-${index % 16}`, index >> 4, turn, 0);
        const context = { signal: new AbortController().signal, inputs: {}, random };
        results.push(await tool.call({ query: `question ${index % 16} turn ${turn}` }, context));
      }
      return results;
    };
    const results = await Promise.all(Array.from({ length: 64 }, (_, index) => episode(index)));
    return { results, report: shared.report?.() };
  } finally {
    await shared.close();
  }
}

test('a replay of 64 episodes at once gives the same results without a call to the network', async () => {
  // Every third request fails, and so does every repetition that happens to be a third one.
  let request = 0;
  server.answer = (received, response) => {
    request += 1;
    const { query } = JSON.parse(received.body) as { query: string };
    const found = { title: query, url: 'https://a.example', text: `${secret} ${request}` };
    json({ results: [found] }, request % 3 === 0 ? 500 : 200)(received, response);
  };
  const recorded = await played('record', { KEY_OF_TEST: secret });
  const failures = recorded.results.flat().filter(({ isError }) => isError === true).length;
  const calls = server.received.length;
  expect(failures).toBeGreaterThan(0);
  expect(failures).toBeLessThan(128);
  expect(calls).toBeLessThan(128);
  expect(recorded.report).toMatchObject({ requests: 128, networkCalls: calls });

  // Without a key: a replay needs none.
  const replayed = await played('replay');
  expect(replayed.results).toEqual(recorded.results);
  expect(replayed.report).toEqual({
    requests: 128,
    networkCalls: 0,
    cassetteHits: 128,
    cassetteHitRate: 1,
    cost: 0,
  });
  expect(server.received).toHaveLength(calls);
  expect(readFileSync(path, 'utf8')).not.toContain(secret);
});
