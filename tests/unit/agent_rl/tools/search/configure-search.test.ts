import { describe, expect, test } from '@jest/globals';

import { validateBlock } from '#agent_rl/config/index.ts';
import { configureSearch, SearchSettings } from '#agent_rl/tools/search/settings.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const settingsOf = (block: object): SearchSettings =>
  validateBlock(SearchSettings, block, { path: 'tools.0', places: new Map() });
const configured = (block: object) => configureSearch(settingsOf(block));
const tavily = { provider: 'tavily', apiKeyEnv: 'TAVILY_API_KEY' };

describe('The check of search settings', () => {
  const web = (settings: object) => ({ mode: 'web', web: settings });
  const corpus = (settings: object) => ({ mode: 'corpus', corpus: { path: 'i', ...settings } });
  const documents = (settings: object) => ({ mode: 'task', documents: settings });
  const weightless = { type: 'weighted', denseWeight: 0, textWeight: 0 };
  const fusion = { type: 'reciprocal_rank' };
  const embedded = { dense: { type: 'transformers', model: 'm' }, fusion: weightless };

  test.each<[string, object, RegExp]>([
    ['an unknown provider', web({ provider: 'altavista' }), /Use one of tavily, .*custom\./],
    ['bing, with what replaced it', web({ provider: 'bing' }), /provider: web_iq/],
    ['no key', web({ provider: 'exa' }), /exa needs a key.*web\.apiKeyEnv/],
    ['no endpoint', web({ provider: 'searxng' }), /needs web\.endpoint/],
    ['a password', web({ provider: 'custom', endpoint: 'http://me:pw@a' }), /contain a password/],
    ['an own query', web({ ...tavily, defaultParams: { query: 'x' } }), /Params\.query is set by/],
    ['money without a price', web({ ...tavily, budget: { maxCost: 5 } }), /budget\.costPerCall/],
    ['no web', { mode: 'web' }, /mode: web needs web\.provider/],
    ['no corpus', { mode: 'corpus' }, /needs corpus\.path/],
    ['a fusion of words alone', corpus({ dense: 'none', fusion }), /corpus\.fusion: has no effect/],
    ['a fusion in documents', documents({ fusion }), /documents\.fusion: has no effect without/],
    ['a weightless fusion', corpus(embedded), /fusion: denseWeight and textWeight are both 0/],
    ['an unknown language', documents({ text: { language: 'german' } }), /language.*an "German"/s],
    ['absent stop words', documents({ text: { language: 'Greek' } }), /removeStopWords.*false/],
    ['a whole overlap', documents({ chunking: { tokens: 8, overlap: 8 } }), /overlap is 8/],
    ['what the mode does not read', { ...documents({}), web: tavily }, /web: has no effect in/],
  ])('refuses %s', (_name, block, message) => expect(() => configured(block)).toThrow(message));

  test('names the current spelling of a setting of an older system', () => {
    const old = { ...tavily, rate_limit_per_min: 8 };
    const { message } = thrownBy(() => settingsOf({ mode: 'web', web: old }));
    expect(message).toContain('rateLimitPerMin');
  });
});

test('the deadline of a call is longer than the deadline of its request', () => {
  expect(configured({ mode: 'web', web: { ...tavily, deadlineS: 30 } })).toEqual({
    deadlineS: 35,
    maxContentChars: 5 * (520 + 500),
  });
});
