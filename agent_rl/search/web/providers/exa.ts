import { listOf, type Provider, scoreOf, textOf } from './provider.ts';

/** https://docs.exa.ai/reference/search */
export const exa: Provider = {
  name: 'exa',
  endpoint: 'https://api.exa.ai/search',
  key: 'required',
  method: 'POST',
  own: ['query'],
  parameters: ({ query, topK }) => ({
    query,
    numResults: topK,
    type: 'auto',
    contents: { highlights: true },
  }),
  authorise: (key) => ({ 'x-api-key': key }),
  pages: (answer) =>
    listOf(answer, 'results').map((item) => ({
      title: textOf(item, 'title'),
      url: textOf(item, 'url', 'id'),
      text: highlightsOf(item['highlights']) || textOf(item, 'summary', 'text'),
      score: scoreOf(item),
    })),
};

const highlightsOf = (value: unknown): string =>
  Array.isArray(value) ? value.filter((part) => typeof part === 'string').join(' … ') : '';
