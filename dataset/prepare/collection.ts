import type { SearchDocument } from '../../agent_rl/core/services/search.ts';
import { documentId, questionId } from './document-id.ts';
import { plainText } from './plain-text.ts';
import type { Dropped, SourceRecord } from './source-record.ts';

/** A question whose documents are known by their ids. */
export interface PreparedQuestion {
  id: string;
  where: string;
  question: string;
  answer: string;
  aliases: readonly string[];
  /** Documents that hold the answer. */
  documents: readonly string[];
  metadata: Readonly<Record<string, unknown>>;
}

/** Gathers records into documents, one for every page, and questions about them. */
export class Collection {
  readonly #documents = new Map<
    string,
    { id: string; where: string; title: string; url?: string | undefined; parts: Set<string> }
  >();
  readonly #questions = new Map<string, PreparedQuestion>();
  readonly #ids = new Map<string, number>();

  /** Adds a record; what it repeats is returned as dropped. */
  add({ where, documents, question }: SourceRecord): Dropped | undefined {
    const ids = documents.map((document) => {
      const id = documentId(document);
      const { title, url } = document;
      const fresh = {
        id,
        where,
        title,
        parts: new Set<string>(),
        url,
      };
      const growing = this.#documents.get(id) ?? fresh;
      growing.title ||= title;
      if (document.text !== '') growing.parts.add(document.text);
      this.#documents.set(id, growing);
      return id;
    });
    if (question === undefined) return undefined;
    const relevant = [...new Set(question.relevant.flatMap((index) => ids[index] ?? []))];
    const key = JSON.stringify([plainText(question.text), plainText(question.answer), relevant]);
    const first = this.#questions.get(key);
    if (first !== undefined) {
      return { reason: 'duplicate-question', where, detail: `as ${first.where}: ${question.text}` };
    }
    const { text, answer, aliases, metadata } = question;
    const id = this.#freeId(question.id || questionId(text, answer, relevant));
    const prepared = { id, where, question: text, answer, aliases, documents: relevant, metadata };
    this.#questions.set(key, prepared);
    return undefined;
  }

  /** Sources number questions by file or by split: the same id may come again. */
  #freeId(wanted: string): string {
    const uses = (this.#ids.get(wanted) ?? 0) + 1;
    this.#ids.set(wanted, uses);
    return uses === 1 ? wanted : this.#freeId(`${wanted}~${uses}`);
  }

  /** The documents in order of appearance, with where each was first seen. */
  documents(): (SearchDocument & { where: string })[] {
    return Array.from(this.#documents.values(), ({ parts, ...document }) =>
      Object.assign(document, { text: [...parts].join('\n\n') }),
    );
  }

  questions(): PreparedQuestion[] {
    return [...this.#questions.values()];
  }
}
