import type { SearchDocument } from '../../core/services/search.ts';

/** A piece of a document, as it is indexed and found. */
export interface Passage {
  documentId: string;
  /** Other documents that hold it too, where repeated passages are kept once. */
  alsoIn?: readonly string[];
  title: string;
  text: string;
  url?: string;
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
  ...(url === undefined ? {} : { url }),
});

/** What is searched of a passage. A piece from the middle of a document is still about its title. */
export const searchedText = ({ title, text }: Pick<Passage, 'title' | 'text'>): string =>
  title === '' ? text : `${title}\n${text}`;

/** Order of passages that score the same. By code units: no locale changes it. */
export function byDocument(
  a: Pick<Passage, 'documentId' | 'start'>,
  b: Pick<Passage, 'documentId' | 'start'>,
): number {
  if (a.documentId !== b.documentId) return a.documentId < b.documentId ? -1 : 1;
  return a.start - b.start;
}
