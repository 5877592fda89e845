import { expect, test } from '@jest/globals';

import { hideSecrets, parseHiding } from '#agent_rl/telemetry/redact.ts';

test('secrets are taken out of a text in every form, and what is too short to be one is not', () => {
  const hide = hideSecrets(['2', 'a/b+c"d', 'short']);
  expect(hide('v2 a/b+c"d a/b+c\\"d a%2Fb%2Bc%22d short')).toBe(
    'v2 [redacted] [redacted] [redacted] short',
  );
});

test('a secret of six characters is one, and one of five is none', () => {
  expect(hideSecrets(['123456', '12345'])('123456 12345')).toBe('[redacted] 12345');
});

test('JSON keeps its names and numbers, and loses secrets in its texts however they are escaped', () => {
  const hide = hideSecrets(['status', '123456']);
  expect(parseHiding('{"status":123456,"text":["\\u0031\\u00323456","status"]}', hide)).toEqual({
    status: 123_456,
    text: ['[redacted]', '[redacted]'],
  });
});
