/** A document as a source gives it: several records of one page each bring a part of its text. */
export interface SourceDocument {
  /** The source's own name for it; decides the id only where there is no address. */
  sourceId?: string;
  url?: string;
  title: string;
  /** Empty when the text is to be fetched from `url`. */
  text: string;
}

/** A question that a source gives with its answer. */
export interface SourceQuestion {
  /** The source's own id, or an empty text. */
  id: string;
  text: string;
  answer: string;
  /** Other answers that are right too. */
  aliases: readonly string[];
  /** Indices into the record's documents: those that hold the answer. */
  relevant: readonly number[];
  metadata: Readonly<Record<string, unknown>>;
}

/** One record of a source: documents, and perhaps a question about them. */
export interface SourceRecord {
  /** `file:line`, `file:row 12` for Parquet. */
  where: string;
  documents: readonly SourceDocument[];
  question?: SourceQuestion;
}

/** What reading a source gives, in its order. */
export type SourceItem =
  | { record: SourceRecord }
  | { dropped: Dropped }
  /** The source is not what it should be. */
  | { problem: SourceProblem };

export interface SourceProblem {
  where: string;
  /** What is wrong, the value seen and what is allowed. */
  text: string;
}

/** Why something of the source is not in the output. */
export const dropReasons = {
  'unreadable-record': 'a line, row or file that cannot be read (skipped by --skip-invalid)',
  'no-question': 'the record has no question',
  'no-answer': 'the question has no answer',
  'no-pairs': 'the document has no question-answer pairs',
  'no-text': 'the document has no text',
  'no-url': 'the record has no URL to fetch',
  'bad-url': 'the address is not an http or https URL',
  'duplicate-question': 'an earlier record has the same question and answer',
  'document-dropped': 'all documents of the question were left out',
  'beyond-max-records': 'beyond the limit of --max-records',
  'page-robots-disallowed': 'robots.txt forbids the page',
  'page-robots-unreachable': 'robots.txt cannot be fetched, so no page of the host is fetched',
  'page-address-refused': 'the address is private or belongs to this machine',
  'page-client-error': 'the server has no such page, or refuses access',
  'page-server-error': 'the server failed, also on retry',
  'page-rate-limited': 'the server asks to wait longer than the time limit of a page',
  'page-redirect': 'too many redirects, or a redirect without a valid target',
  'page-timeout': 'the page did not arrive in time',
  'page-network': 'the server cannot be reached',
  'page-too-large': 'the page is larger than allowed',
  'page-bad-response': 'the answer cannot be parsed',
  'page-not-text': 'the page is neither HTML nor plain text',
  'page-wrong-encoding': 'the bytes are not text in the encoding that the page declares',
  'page-no-readable-text': 'the page has no readable text',
} as const;

export type DropReason = keyof typeof dropReasons;

/** Something of the source that is not in the output. */
export interface Dropped {
  reason: DropReason;
  /** `file:line` or an address. */
  where: string;
  /** What was seen; empty when the reason says all. */
  detail: string;
}

export const drop = (where: string, reason: DropReason, detail = ''): SourceItem => ({
  dropped: { reason, where, detail },
});

export const problem = (where: string, text: string): SourceItem => ({ problem: { where, text } });
