import { listOf, objectOf, type Provider, textOf } from './provider.ts';

/** https://api-dashboard.search.brave.com/app/documentation/web-search */
export const brave: Provider = {
  name: 'brave',
  endpoint: 'https://api.search.brave.com/res/v1/web/search',
  key: 'required',
  method: 'GET',
  own: ['q'],
  // Without decorations, descriptions are plain text and not HTML. More than 20 are refused.
  parameters: ({ query, topK }) => ({
    q: query,
    count: Math.min(topK, 20),
    text_decorations: false,
  }),
  authorise: (key) => ({ 'x-subscription-token': key }),
  pages: (answer) =>
    listOf(objectOf(answer)['web'] ?? {}, 'results').map((item) => ({
      title: textOf(item, 'title'),
      url: textOf(item, 'url'),
      text: textOf(item, 'description'),
    })),
};
