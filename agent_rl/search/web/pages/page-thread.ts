import { serveRpc } from '../../../threads/rpc.ts';
import { type ReadablePage, readablePage } from './readable-page.ts';
import { WebFailure, type WebFailureKind } from '../web-failure.ts';

/*
 * Entry of the thread that extracts text from pages, one after another. Ended by the other side where a page takes too
 * long.
 */

export type PageAnswer =
  | { kind: 'read'; page: ReadablePage }
  | { kind: 'failed'; failure: WebFailureKind; message: string };

await serveRpc(async () => ({
  answer: ([html]: [string]): PageAnswer => {
    try {
      return { kind: 'read', page: readablePage(html) };
    } catch (thrown) {
      if (!(thrown instanceof WebFailure)) throw thrown;
      return { kind: 'failed', failure: thrown.kind, message: thrown.message };
    }
  },
}));
