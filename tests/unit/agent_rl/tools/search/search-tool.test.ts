import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { SearchBackend, SearchRequest } from '#agent_rl/core/services/search.ts';
import { SearchTool, formatHits } from '#agent_rl/tools/search/search-tool.ts';
import type { SearchSettings } from '#agent_rl/tools/search/settings.ts';
import { describeToolContract } from '#tests/contracts/tool-contract.ts';

const documents = [
  { id: 'd1', title: 'Aurel Bridge', text: 'Ina Kost built the Aurel bridge.' },
  { id: 'd2', title: 'Lake Merrow', text: 'The lake freezes every winter.' },
];

const settings: SearchSettings = { mode: 'corpus', topK: 2, maxSnippetChars: 60 };

const asked: SearchRequest[] = [];
const backend: SearchBackend = {
  search: async (request) => {
    asked.push(request);
    const score = 1;
    return documents.map(({ id, title, text }) => ({ documentId: id, title, text, score }));
  },
  close: async () => {},
};
const shared = { backend, close: async () => {} };

describeToolContract('search', {
  plugin: SearchTool,
  create: () => new SearchTool({ shared, settings }),
  goodArguments: { query: 'who built the bridge' },
  badArguments: { query: '  ' },
});

const { signal } = new AbortController();
const randomOf = (turn: number) => new KeyedRng(1, 'tool', 'task', 0, turn);
const contextOf = (turn: number, inputs = {}) => ({
  signal,
  inputs,
  idempotencyKey: `call ${turn}`,
  random: randomOf(turn),
});

describe('The search tool', () => {
  test('shows numbered passages and returns the hits to the environment', async () => {
    const result = await new SearchTool({ shared, settings }).call({ query: 'x' }, contextOf(0));
    expect(result.content).toBe(
      '[1] Aurel Bridge\nIna Kost built the Aurel bridge.\n\n[2] Lake Merrow\nThe lake freezes every winter.',
    );
    expect(result.data).toMatchObject([{ documentId: 'd1' }, { documentId: 'd2' }]);
  });

  test('names each call of a run differently, and the same call the same', async () => {
    asked.length = 0;
    for (const turn of [0, 1, 0]) {
      await new SearchTool({ shared, settings }).call({ query: 'x' }, contextOf(turn));
    }
    const [first, second, again] = asked.map(({ call }) => call);
    expect(first).toMatch(/^[0-9a-f]{12}$/);
    expect(second).not.toBe(first);
    expect(again).toBe(first);
  });

  test.each([
    ['blank', { content: '', isError: undefined }, 1],
    ['unavailable', { content: 'Error: search is not available.', isError: true }, 0],
  ] as const)('can be %s, to measure how much it helps', async (output, answer, searches) => {
    asked.length = 0;
    const tool = new SearchTool({ shared, settings: { ...settings, output } });
    const { content, isError } = await tool.call({ query: 'x' }, contextOf(0));
    expect({ content, isError }).toEqual(answer);
    expect(asked).toHaveLength(searches);
  });
});

test('the list of passages may show sources, and needs no titles', () => {
  const hits = [
    { documentId: 'd1', title: '', text: 'a', score: 1 },
    { documentId: 'd2', title: 'T', text: '', url: 'https://x.example', score: 1 },
  ];
  expect(formatHits(hits, true)).toBe('[1] (d1)\na\n\n[2] T (https://x.example)');
});

describe('The search tool in mode: task', () => {
  const alone = { ...settings, mode: 'task' as const };
  const close = async () => {};

  test('searches the documents of the environment, separately for each episode', async () => {
    const one = new SearchTool({ shared: { close }, settings: alone });
    const other = new SearchTool({ shared: { close }, settings: alone });
    const ask = async (tool: SearchTool, given: typeof documents) =>
      (await tool.call({ query: 'Aurel bridge' }, contextOf(0, { documents: given }))).content;
    expect(await ask(one, documents)).toContain('[1] Aurel Bridge\nIna Kost');
    expect(await ask(other, documents.slice(1))).not.toContain('Ina Kost');
    await one.close();
    await other.close();
  });

  test('names the environment that passed no documents', async () => {
    const tool = new SearchTool({ shared: { close }, settings: alone });
    await expect(tool.call({ query: 'x' }, contextOf(0))).rejects.toThrow(/inputs\.documents/);
  });
});
