import { answerPage, fields, listOf, type Provider, textOf } from './provider.ts';

/** https://serper.dev */
export const serper: Provider = {
  name: 'serper',
  endpoint: 'https://google.serper.dev/search',
  key: 'required',
  method: 'POST',
  own: ['q'],
  parameters: ({ query, topK }) => ({ q: query, num: topK }),
  authorise: (key) => ({ 'x-api-key': key }),
  pages: (answer) => {
    const found = listOf(answer, 'organic').map((item) => ({
      title: textOf(item, 'title'),
      url: textOf(item, 'link'),
      text: textOf(item, 'snippet'),
    }));
    const box = fields(fields(answer)['answerBox']);
    return found.length > 0
      ? found
      : answerPage(textOf(box, 'answer', 'snippet'), textOf(box, 'link'));
  },
};
