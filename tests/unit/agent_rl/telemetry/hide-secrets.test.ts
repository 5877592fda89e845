import { expect, test } from '@jest/globals';

import { hideSecrets, parseHiding } from '#agent_rl/telemetry/redact.ts';

test('secrets are hidden in every form, and values that are too short are not', () => {
  const hide = hideSecrets(['2', 'a/b+c"d', 'short', '123456']);
  expect(hide('v2 a/b+c"d a/b+c\\"d a%2Fb%2Bc%22d short 123456')).toBe(
    'v2 [redacted] [redacted] [redacted] short [redacted]',
  );
});

test.each([
  ['a URL', (secret: string) => encodeURIComponent(secret)],
  ['a URL in small letters', (secret: string) => encodeURIComponent(secret).toLowerCase()],
  ['a URL that keeps what it may', (secret: string) => encodeURI(secret)],
  ['a form', (secret: string) => new URLSearchParams({ secret }).toString().slice(7)],
  ['a URL, by Python', (secret: string) => encodeURIComponent(secret).replaceAll('%2F', '/')],
])('a secret is hidden in %s', (_, written) => {
  const secret = "s3cret/with +a%20b&c=d(e)!'é";
  const lower = secret.toLowerCase();
  expect(hideSecrets([lower])(`?q=${written(lower)}&x`)).toBe('?q=[redacted]&x');
});

test.each(['hunter', 'sk-planted-1234', 'bÿÿÿÿü', 'two\nlines'])(
  'the secret %j is hidden in base64 at every offset',
  (secret) => {
    const hide = hideSecrets([secret]);
    for (const before of ['', 'u', 'us', 'ada:', 'Basic user:']) {
      for (const after of ['', '!', '!!', '@db.example']) {
        for (const as of ['base64', 'base64url'] as const) {
          const clean = hide(Buffer.from(before + secret + after).toString(as));
          expect(clean).toContain('[redacted]');
          const left = Buffer.from(clean.split('[redacted]')[0] ?? '', as).toString('latin1');
          expect(left.length).toBeLessThanOrEqual(before.length + 1);
        }
      }
    }
  },
);

test('JSON keeps its names and numbers, and hides secrets in its texts however they are escaped', () => {
  const hide = hideSecrets(['status', '123456']);
  expect(parseHiding('{"status":123456,"text":["\\u0031\\u00323456","status"]}', hide)).toEqual({
    status: 123_456,
    text: ['[redacted]', '[redacted]'],
  });
});
