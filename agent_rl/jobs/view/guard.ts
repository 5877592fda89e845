import type { IncomingMessage, ServerResponse } from 'node:http';

import { Refusal } from '../../http/refusal.ts';

/** What the page may load: its own files and answers, nothing written into it, nothing from elsewhere. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** On every answer, refusals too. */
export function setHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

/** @throws Refusal */
export function refuseWriting({ method }: IncomingMessage): void {
  if (method !== 'GET')
    throw new Refusal(405, 'This server is read-only: it answers only GET requests.');
}
