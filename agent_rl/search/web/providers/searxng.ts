import { answerPage, fields, listOf, type Provider, scoreOf, textOf } from './provider.ts';

/** https://docs.searxng.org/dev/search_api.html. Gives a page of results, however many were asked for. */
export const searxng: Provider = {
  name: 'searxng',
  key: 'optional',
  method: 'GET',
  own: ['q', 'format'],
  parameters: ({ query }) => ({ q: query, format: 'json' }),
  authorise: (key) => ({ authorization: `Bearer ${key}` }),
  pages: (answer) => {
    const found = listOf(answer, 'results').map((item) => ({
      title: textOf(item, 'title'),
      url: textOf(item, 'url'),
      text: textOf(item, 'content'),
      score: scoreOf(item),
    }));
    return found.length > 0 ? found : answerPage(firstAnswer(fields(answer)['answers']));
  },
  hints: { 403: 'json must be among search.formats in its settings.yml' },
};

/** Older servers give answers as texts, newer ones as objects. */
function firstAnswer(answers: unknown): string {
  const [first] = Array.isArray(answers) ? (answers as unknown[]) : [];
  return typeof first === 'string' ? first.trim() : textOf(fields(first), 'answer');
}
