import type { WebFailureKind } from '../web/web-failure.ts';

/** Why there is no text of a page. */
export type CrawlFailureKind =
  WebFailureKind | 'robots-disallowed' | 'robots-unreachable' | 'no-readable-text';

export interface CrawlFailure {
  kind: CrawlFailureKind;
  detail: string;
}

/** Failures that another attempt would meet again; the others may pass. */
const lasting: ReadonlySet<CrawlFailureKind> = new Set([
  'client-error',
  'redirect',
  'too-large',
  'bad-response',
  'not-text',
  'wrong-encoding',
  'no-readable-text',
] satisfies CrawlFailureKind[]);

export const isLasting = ({ kind }: CrawlFailure): boolean => lasting.has(kind);
