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
  const embedded = { dense: { type: 'transformers', model: 'm' }, fusion: weightless };

  test.each<[string, object, RegExp]>([
    ['an unknown provider', web({ provider: 'altavista' }), /Use one of tavily, .*custom\./],
    ['bing, with what replaced it', web({ provider: 'bing' }), /provider: web_iq/],
    ['no key', web({ provider: 'exa' }), /exa needs a key.*web\.apiKeyEnv/],
    ['no endpoint', web({ provider: 'searxng' }), /needs web\.endpoint/],
    [
      'a password in the endpoint',
      web({ provider: 'custom', endpoint: 'http://me:pw@a.example' }),
      /must not contain a password/,
    ],
    [
      'a query of the settings’ own',
      web({ ...tavily, defaultParams: { query: 'x' } }),
      /web\.defaultParams\.query is set by the tool/,
    ],
    ['money without a price', web({ ...tavily, budget: { maxCost: 5 } }), /budget\.costPerCall/],
    ['no web', { mode: 'web' }, /mode: web needs web\.provider/],
    ['no corpus', { mode: 'corpus' }, /needs corpus\.path/],
    [
      'a fusion without vectors, of a corpus',
      corpus({ dense: 'none', fusion: { type: 'reciprocal_rank' } }),
      /corpus\.fusion: has no effect without vectors/,
    ],
    [
      'a fusion without vectors, of documents',
      documents({ fusion: { type: 'reciprocal_rank' } }),
      /documents\.fusion: has no effect without vectors/,
    ],
    ['a weightless fusion', corpus(embedded), /fusion: denseWeight and textWeight are both 0/],
    [
      'a language that the index does not know',
      documents({ text: { language: 'german' } }),
      /documents\.text\.language.*Did you mean "German"/s,
    ],
    [
      'stop words of a language that has none',
      documents({ text: { language: 'Greek' } }),
      /documents\.text\.removeStopWords.*false/,
    ],
    [
      'passages that share more than they hold',
      documents({ chunking: { tokens: 8, overlap: 8 } }),
      /documents\.chunking\.overlap is 8/,
    ],
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
