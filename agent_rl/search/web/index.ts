export { isAllowedHost, portOf } from './connection/address-guard.ts';
export { decodeText } from './pages/decode-text.ts';
export { openDispatcher } from './connection/open-dispatcher.ts';
export { PageReader } from './pages/page-reader.ts';
export { checkBudget, webProperties, WebSearchSettings } from './settings.ts';
export { joinWebReports, WebAccess } from './web-access.ts';
export type { WebClient, WebRequest } from './web-client.ts';
export { WebFailure, type WebFailureKind } from './web-failure.ts';
export { checkWebSearch, openWebSearch } from './web-search.ts';
