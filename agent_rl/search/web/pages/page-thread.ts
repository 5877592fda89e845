import { parentPort } from 'node:worker_threads';

import { type ReadablePage, readablePage } from './readable-page.ts';
import { WebFailure, type WebFailureKind } from '../web-failure.ts';

/*
 * Entry of the thread that takes pages apart, one after another. Ended by the other side where a page takes too long.
 */

/** What comes back: first `ready`, then an answer to each page. */
export type PageAnswer =
  | { kind: 'ready' }
  | { kind: 'read'; page: ReadablePage }
  | { kind: 'failed'; failure: WebFailureKind; message: string };

if (parentPort === null) throw new Error('page-thread runs in a worker thread only.');
const port = parentPort;
const say = (answer: PageAnswer): void => port.postMessage(answer);

port.on('message', answerPage);
say({ kind: 'ready' });

function answerPage(html: string): void {
  try {
    say({ kind: 'read', page: readablePage(html) });
  } catch (thrown) {
    if (!(thrown instanceof WebFailure)) throw thrown;
    say({ kind: 'failed', failure: thrown.kind, message: thrown.message });
  }
}
