export { decodeText } from './decode-text.ts';
export { openDispatcher } from './open-dispatcher.ts';
export { PageReader, type ReadPage } from './page-reader.ts';
export { readablePage, type ReadablePage } from './readable-page.ts';
export { secretOf } from './secret-of.ts';
export {
  checkBudget,
  type CommonWebSettings,
  webProperties,
  WebSearchSettings,
} from './settings.ts';
export { WebAccess } from './web-access.ts';
export type { WebClient, WebRequest, WebResponse } from './web-client.ts';
export { WebFailure, type WebFailureKind } from './web-failure.ts';
export { checkWebSearch, openWebSearch, type WebSearchBackend } from './web-search.ts';
