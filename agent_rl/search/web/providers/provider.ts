import { isRecord } from '../../../core/is-record.ts';
import { WebFailure } from '../web-failure.ts';

/** What is asked of a provider. */
export interface ProviderQuery {
  query: string;
  topK: number;
}

/** A result as a provider gives it, before it is cut. */
export interface FoundPage {
  title: string;
  url: string;
  text: string;
  score?: number | undefined;
}

/** How one provider is asked and answers. */
export interface Provider {
  name: string;
  /** Where it is asked; none means that the config must say. */
  endpoint?: string;
  /** Whether it answers only to a key. */
  key: 'required' | 'optional';
  method: 'GET' | 'POST';
  /** Names of the parameters made by `parameters`, which no other setting may replace. */
  own: readonly string[];
  /** Parameters of a request: of the URL for GET, of the body for POST. Others may be added or replaced. */
  parameters(query: ProviderQuery): Readonly<Record<string, unknown>>;
  /** Headers that carry the key. */
  authorise(key: string): Readonly<Record<string, string>>;
  /** Results of an answer, best first. @throws WebFailure `bad-response` */
  pages(answer: unknown): readonly FoundPage[];
  /** What a status of 400 to 499 may be due to. */
  hints?: Readonly<Record<number, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** A field of an answer as an object; empty when it is not one. */
export const fields = (value: unknown): Fields => (isRecord(value) ? value : {});

/** An answer, which must be an object. @throws WebFailure `bad-response` */
export function objectOf(answer: unknown): Fields {
  if (!isRecord(answer)) throw new WebFailure('bad-response', 'the answer is not an object');
  return answer;
}

/** The first of several fields that holds text, without white space around it. */
export function textOf(item: Fields, ...names: readonly string[]): string {
  const values = names.map((name) => item[name]);
  const found = values.find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof found === 'string' ? found.trim() : '';
}

/** A result's own score, where it has one. */
export const scoreOf = ({ score }: Fields): number | undefined =>
  typeof score === 'number' ? score : undefined;

/** The list of results in an answer. @throws WebFailure `bad-response` */
export function listOf(container: unknown, name: string): readonly Fields[] {
  const list = fields(container)[name];
  // An answer without results may leave the list out, but it is still an object.
  if (list === undefined && isRecord(container)) return [];
  if (!Array.isArray(list)) {
    throw new WebFailure('bad-response', `the answer holds no list "${name}"`);
  }
  return list.filter(isRecord);
}

/** A text answered in place of results, as a page of its own. */
export const answerPage = (text: string, url = ''): readonly FoundPage[] =>
  text === '' ? [] : [{ title: 'Answer', url, text }];
