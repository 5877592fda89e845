import { describe, expect, test } from '@jest/globals';

import {
  isAllowedHost,
  isPublicAddress,
  publicAddresses,
} from '#agent_rl/search/web/connection/address-guard.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

describe('The address guard', () => {
  const refused =
    '127.0.0.1 127.255.255.254 0.0.0.0 10.1.2.3 100.64.0.1 169.254.169.254 172.16.0.1 172.31.255.255 ' +
    '192.168.1.1 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ' +
    '64:ff9b::7f00:1 fe80::1 fc00::1 fd12:3456::1 ff02::1 2001::1 2001:db8::1 2002:7f00:1:: localhost';
  test.each([...refused.split(' '), ''])('refuses the address %s', (address) =>
    expect(isPublicAddress(address)).toBe(false),
  );

  test.each(['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'accepts the address %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );
});

describe('The name check', () => {
  test('refuses a name when any of its addresses is private', async () => {
    const both = async () => ['1.1.1.1', '10.0.0.1'];
    const error = await rejectionOf(publicAddresses('a.example', both));
    expect(error).toMatchObject({ kind: 'address-refused' });
  });

  test('refuses a name without addresses', async () => {
    const error = await rejectionOf(publicAddresses('a.example', async () => []));
    expect(error).toMatchObject({ kind: 'network' });
  });

  test('accepts a name allowed by name, or by name and port', () => {
    const host = { hostname: 'LocalHost', port: '8080' };
    expect(isAllowedHost(['localhost'], host)).toBe(true);
    expect(isAllowedHost(['localhost:8080'], host)).toBe(true);
    expect(isAllowedHost(['localhost:80'], host)).toBe(false);
    expect(isAllowedHost(['host'], host)).toBe(false);
  });

  test.each([
    ['bücher.example', 'xn--bcher-kva.example', 80, true],
    ['127.1', '127.0.0.1', 80, true],
    ['127.0.0.1:80', '127.0.0.1', 80, true],
    ['127.0.0.1:80', '127.0.0.1', 443, false],
    ['[::1]', '::1', 80, true],
    ['::1', '[::1]', 80, true],
    ['[0::1]:8080', '::1', 8080, true],
    ['[::1]:8080', '::1', 80, false],
    ['not a host', 'a.example', 80, false],
  ])('treats %s as %s on port %i: %s', (allowed, hostname, port, expected) => {
    expect(isAllowedHost([allowed], { hostname, port })).toBe(expected);
  });
});
