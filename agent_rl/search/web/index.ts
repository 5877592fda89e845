export { decodeText } from './decode-text.ts';
export { openDispatcher } from './open-dispatcher.ts';
export { PageReader } from './page-reader.ts';
export { secretOf } from './secret-of.ts';
export { checkBudget, webProperties, WebSearchSettings } from './settings.ts';
export { joinWebReports, WebAccess } from './web-access.ts';
export type { WebClient, WebRequest } from './web-client.ts';
export { WebFailure, type WebFailureKind } from './web-failure.ts';
export { checkWebSearch, openWebSearch } from './web-search.ts';
