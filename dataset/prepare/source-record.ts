/** A document as a source gives it: several records of one page each bring a part of its text. */
export interface SourceDocument {
  /** The source's own name for it; decides the id only where there is no address. */
  readonly sourceId?: string;
  readonly url?: string;
  readonly title: string;
  /** Empty when the text is to be fetched from `url`. */
  readonly text: string;
}

/** A question that a source gives with its answer. */
export interface SourceQuestion {
  /** The source's own id, or an empty text. */
  readonly id: string;
  readonly text: string;
  readonly answer: string;
  /** Other answers that are right too. */
  readonly aliases: readonly string[];
  /** Indices into the record's documents: those that hold the answer. */
  readonly relevant: readonly number[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** One record of a source: documents, and perhaps a question about them. */
export interface SourceRecord {
  /** `file:line`, `file:row 12` for Parquet. */
  readonly where: string;
  readonly documents: readonly SourceDocument[];
  readonly question?: SourceQuestion;
}

/** What reading a source gives, in its order. */
export type SourceItem =
  | { readonly record: SourceRecord }
  | { readonly dropped: Dropped }
  /** The source is not what it should be. */
  | { readonly problem: SourceProblem };

export interface SourceProblem {
  readonly where: string;
  /** What is wrong, the value seen and what is allowed. */
  readonly text: string;
}

/** Why something of the source is not in the output. */
export const dropReasons = {
  'unreadable-record': 'a line, row or file that cannot be read (kept out by --skip-invalid)',
  'no-question': 'the record has no question',
  'no-answer': 'the question has no answer',
  'no-pairs': 'the document has no question-answer pairs',
  'no-text': 'the document has no text',
  'no-url': 'the record has no address to fetch',
  'bad-url': 'the address is no http or https URL',
  'duplicate-question': 'the same question with the same answer is there already',
  'document-dropped': 'no document of the question was kept',
  'beyond-max-records': 'comes after --max-records',
  'robots-disallowed': 'robots.txt forbids the page',
  'robots-unreachable': 'robots.txt cannot be fetched, which forbids the whole host for now',
  'address-refused': 'the address is private or of this machine',
  'http-status': 'the server answered with an error',
  'too-many-redirects': 'the page redirects too often',
  'page-timeout': 'the page did not come in time',
  'network-error': 'the server cannot be reached',
  'page-too-large': 'the page is larger than allowed',
  'not-text': 'the page is not HTML and not plain text',
  'wrong-encoding': 'the bytes are not text in the encoding that the page declares',
  'no-readable-text': 'no article was found in the page',
} as const;

export type DropReason = keyof typeof dropReasons;

/** Something of the source that is not in the output. */
export interface Dropped {
  readonly reason: DropReason;
  /** `file:line` or an address. */
  readonly where: string;
  /** What was seen; empty when the reason says all. */
  readonly detail: string;
}
