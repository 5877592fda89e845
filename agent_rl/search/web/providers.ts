import { isRecord } from '../../core/is-record.ts';
import { WebFailure } from './web-failure.ts';

/** A result as a provider gives it, before it is cut. */
export interface FoundPage {
  title: string;
  url: string;
  text: string;
  /** The result's own score, where it has one. */
  score?: number | undefined;
}

/** How one provider is asked and answers. */
export interface Provider {
  /** Where it is asked; without one, the config must say. */
  endpoint?: string;
  /** Whether it answers only to a key. */
  key: 'required' | 'optional';
  method: 'GET' | 'POST';
  /** Names of the parameters made by `parameters`, which no other setting may replace. */
  own: readonly string[];
  /** Parameters of a request: of the URL for GET, of the body for POST. Others may be added or replaced. */
  parameters(query: { query: string; topK: number }): Readonly<Record<string, unknown>>;
  /** Headers that carry the key. */
  authorise(key: string): Readonly<Record<string, string>>;
  /** Results of an answer, best first. @throws WebFailure `bad-response` */
  pages(answer: unknown): readonly FoundPage[];
  /** What a status of 400 to 499 may be due to. */
  hints?: Readonly<Record<number, string>>;
}

const bearer: Provider['authorise'] = (key) => ({ authorization: `Bearer ${key}` });

const providers: Readonly<Record<string, Provider>> = {
  // https://docs.tavily.com/documentation/api-reference/endpoint/search
  tavily: {
    endpoint: 'https://api.tavily.com/search',
    key: 'required',
    method: 'POST',
    own: ['query', 'api_key'],
    parameters: ({ query, topK }) => ({ query, max_results: topK, search_depth: 'basic' }),
    authorise: bearer,
    pages: (answer) =>
      orAnswer(
        pagesOf(listOf(answer, 'results'), textIn('content', 'raw_content')),
        textOf(fields(answer), 'answer'),
      ),
    hints: { 432: 'the plan is used up', 433: 'the pay-as-you-go limit is reached' },
  },
  // https://serper.dev
  serper: {
    endpoint: 'https://google.serper.dev/search',
    key: 'required',
    method: 'POST',
    own: ['q'],
    parameters: ({ query, topK }) => ({ q: query, num: topK }),
    authorise: (key) => ({ 'x-api-key': key }),
    pages: (answer) => {
      const box = fields(fields(answer)['answerBox']);
      const found = pagesOf(listOf(answer, 'organic'), textIn('snippet'), textIn('link'));
      return orAnswer(found, textOf(box, 'answer', 'snippet'), textOf(box, 'link'));
    },
  },
  // https://api-dashboard.search.brave.com/app/documentation/web-search
  brave: {
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
      pagesOf(listOf(objectOf(answer)['web'] ?? {}, 'results'), textIn('description')),
  },
  // https://docs.exa.ai/reference/search
  exa: {
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
      pagesOf(
        listOf(answer, 'results'),
        (item) => joined(item['highlights']) || textOf(item, 'summary', 'text'),
        textIn('url', 'id'),
      ),
  },
  // https://docs.searxng.org/dev/search_api.html. Gives a page of results, however many were requested.
  searxng: {
    key: 'optional',
    method: 'GET',
    own: ['q', 'format'],
    parameters: ({ query }) => ({ q: query, format: 'json' }),
    authorise: bearer,
    pages: (answer) =>
      orAnswer(
        pagesOf(listOf(answer, 'results'), textIn('content')),
        firstAnswer(fields(answer)['answers']),
      ),
    hints: { 403: 'settings.yml of the SearXNG server must list json under search.formats' },
  },
  // Microsoft Web IQ, the successor of Bing's search API.
  web_iq: {
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
    pages: (answer) => pagesOf(listOf(answer, 'webResults'), textIn('content')),
  },
  // A server of your own: POST `{query, top_k, …}`, answered with `{results: [{title, url, text}]}`.
  custom: {
    key: 'optional',
    method: 'POST',
    own: ['query'],
    parameters: ({ query, topK }) => ({ query, top_k: topK }),
    authorise: bearer,
    pages: (answer) =>
      pagesOf(
        listOf(answer, 'results'),
        textIn('text', 'content', 'snippet', 'body', 'description'),
        textIn('url', 'link', 'id'),
      ),
  },
};

/** @throws Error that lists the known names, and says what became of Bing. */
export function providerOf(name: string): Provider {
  const found = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (found !== undefined) return found;
  if (name.toLowerCase() === 'bing') {
    throw new Error(
      'provider "bing" no longer exists: Microsoft retired the Bing Search API on 11 August 2025. Use its successor Microsoft Web IQ (provider: web_iq, with its own key), or provider: custom with a server that still has Bing results.',
    );
  }
  throw new Error(
    `provider "${name}" is unknown. Use one of ${Object.keys(providers).join(', ')}.`,
  );
}

type Fields = Readonly<Record<string, unknown>>;
type ReadText = (item: Fields) => string;

const fields = (value: unknown): Fields => (isRecord(value) ? value : {});

/** An answer, which must be an object. @throws WebFailure `bad-response` */
function objectOf(answer: unknown): Fields {
  if (!isRecord(answer)) throw new WebFailure('bad-response', 'the answer is not an object');
  return answer;
}

/** The list of results in an answer. @throws WebFailure `bad-response` */
function listOf(container: unknown, name: string): readonly Fields[] {
  const list = fields(container)[name];
  // An answer without results may leave the list out, but it is still an object.
  if (list === undefined && isRecord(container)) return [];
  if (!Array.isArray(list)) {
    throw new WebFailure('bad-response', `the answer holds no list "${name}"`);
  }
  return list.filter(isRecord);
}

/** The first of several fields that holds text, without white space around it. */
function textOf(item: Fields, ...names: readonly string[]): string {
  const values = names.map((name) => item[name]);
  const found = values.find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof found === 'string' ? found.trim() : '';
}

const textIn =
  (...names: readonly string[]): ReadText =>
  (item) =>
    textOf(item, ...names);

const pagesOf = (items: readonly Fields[], text: ReadText, url: ReadText = textIn('url')) =>
  items.map((item): FoundPage => {
    const { score } = item;
    const own = typeof score === 'number' ? score : undefined;
    return { title: textOf(item, 'title'), url: url(item), text: text(item), score: own };
  });

/** A text answered instead of results becomes a page of its own. */
const orAnswer = (found: readonly FoundPage[], text: string, url = ''): readonly FoundPage[] =>
  found.length > 0 || text === '' ? found : [{ title: 'Answer', url, text }];

const joined = (value: unknown): string =>
  Array.isArray(value) ? value.filter((part) => typeof part === 'string').join(' … ') : '';

/** Older servers give answers as texts, newer ones as objects. */
function firstAnswer(answers: unknown): string {
  const [first] = Array.isArray(answers) ? (answers as unknown[]) : [];
  return typeof first === 'string' ? first.trim() : textOf(fields(first), 'answer');
}
