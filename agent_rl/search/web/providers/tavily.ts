import { answerPage, fields, listOf, type Provider, scoreOf, textOf } from './provider.ts';

/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
export const tavily: Provider = {
  name: 'tavily',
  endpoint: 'https://api.tavily.com/search',
  key: 'required',
  method: 'POST',
  own: ['query', 'api_key'],
  parameters: ({ query, topK }) => ({ query, max_results: topK, search_depth: 'basic' }),
  authorise: (key) => ({ authorization: `Bearer ${key}` }),
  pages: (answer) => {
    const found = listOf(answer, 'results').map((item) => ({
      title: textOf(item, 'title'),
      url: textOf(item, 'url'),
      text: textOf(item, 'content', 'raw_content'),
      score: scoreOf(item),
    }));
    return found.length > 0 ? found : answerPage(textOf(fields(answer), 'answer'));
  },
  hints: { 432: 'the plan is used up', 433: 'the pay-as-you-go limit is reached' },
};
