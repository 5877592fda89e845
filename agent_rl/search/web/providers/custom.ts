import { listOf, type Provider, scoreOf, textOf } from './provider.ts';

/** A server of one's own: POST `{query, top_k, …}`, answered with `{results: [{title, url, text}]}`. */
export const custom: Provider = {
  name: 'custom',
  key: 'optional',
  method: 'POST',
  own: ['query'],
  parameters: ({ query, topK }) => ({ query, top_k: topK }),
  authorise: (key) => ({ authorization: `Bearer ${key}` }),
  pages: (answer) =>
    listOf(answer, 'results').map((item) => ({
      title: textOf(item, 'title'),
      url: textOf(item, 'url', 'link', 'id'),
      text: textOf(item, 'text', 'content', 'snippet', 'body', 'description'),
      score: scoreOf(item),
    })),
};
