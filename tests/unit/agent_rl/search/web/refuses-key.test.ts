import { expect, test } from '@jest/globals';

import { refusesKey } from '#agent_rl/search/web/web-search.ts';

test('the detector knows how providers reject a key', () => {
  const bodies = [
    '{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"The provided subscription token is invalid."}}',
    '{"tag":"INVALID_API_KEY"}',
    '{"detail":{"error":"Unauthorized: missing or invalid API key."}}',
    '{"error":{"status":"INVALID_ARGUMENT","message":"API key expired. Renew it."}}',
    '{"message":"Invalid authentication credentials"}',
  ];
  expect(bodies.filter((body) => !refusesKey(body, 'a query'))).toEqual([]);
});

test('the detector ignores words of the policy and other errors', () => {
  expect(refusesKey('{"error":"no hits for invalid api key"}', 'invalid api key')).toBe(false);
  expect(refusesKey('{"error":"Unexpected token } in JSON, invalid body"}', '')).toBe(false);
  expect(refusesKey('{"code":"VALIDATION","loc":["query","count"]}', 'q')).toBe(false);
});
