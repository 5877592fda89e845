import { listOf, type Provider, textOf } from './provider.ts';

/** Microsoft Web IQ, the successor of Bing's search API. */
export const webIq: Provider = {
  name: 'web_iq',
  endpoint: 'https://api.microsoft.ai/v3/search/web',
  key: 'required',
  method: 'POST',
  own: ['query'],
  parameters: ({ query, topK }) => ({
    query,
    maxResults: topK,
    contentFormat: 'passage',
    maxLength: 3000,
  }),
  authorise: (key) => ({ 'x-apikey': key }),
  pages: (answer) =>
    listOf(answer, 'webResults').map((item) => ({
      title: textOf(item, 'title'),
      url: textOf(item, 'url'),
      text: textOf(item, 'content'),
    })),
};
