import type { SearchDocument } from '../../core/services/search.ts';

/** A piece of a document, as it is indexed and found. */
export interface Passage {
  documentId: string;
  /** Other documents that hold it too, where repeated passages are kept once. */
  alsoIn?: readonly string[] | undefined;
  title: string;
  text: string;
  url?: string | undefined;
  /** Where the piece is in the document's text, in UTF-16 code units, the end excluded. */
  start: number;
  end: number;
}

/** The whole document as one passage. */
export const wholeDocument = ({ id, title, text, url }: SearchDocument): Passage => ({
  documentId: id,
  title,
  text,
  start: 0,
  end: text.length,
  url,
});

/** The text of a passage that is embedded. A piece from the middle of a document is still about its title. */
export const searchedText = ({ title, text }: Pick<Passage, 'title' | 'text'>): string =>
  title === '' ? text : `${title}\n${text}`;

/**
 * The text of a passage for the word search: the words of a title count twice, so that a document about a thing comes before one that mentions
 * it.
 */
export const indexedText = ({ title, text }: Pick<Passage, 'title' | 'text'>): string =>
  title === '' ? text : `${title}\n${title}\n${text}`;

/** The text of a passage again. */
export const textOf = (title: string, indexed: string): string =>
  title === '' ? indexed : indexed.slice(2 * (title.length + 1));

/** Order of passages that score the same. By code units: no locale changes it. */
export function byDocument(
  a: Pick<Passage, 'documentId' | 'start'>,
  b: Pick<Passage, 'documentId' | 'start'>,
): number {
  if (a.documentId !== b.documentId) return a.documentId < b.documentId ? -1 : 1;
  return a.start - b.start;
}
