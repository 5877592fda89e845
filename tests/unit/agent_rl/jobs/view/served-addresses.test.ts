import { createServer } from 'node:http';
import { hostname, networkInterfaces } from 'node:os';

import { expect, test } from '@jest/globals';

import { closeServer, listen } from '#agent_rl/http/listen.ts';
import { refuseStrangers } from '#agent_rl/http/refuse-strangers.ts';
import { servedAddresses } from '#agent_rl/jobs/view/served-addresses.ts';

async function addressesOn(host: string): Promise<URL[]> {
  const server = createServer();
  await listen(server, { host, port: 0, code: 'CONFIG_INVALID', what: 'It' });
  try {
    return servedAddresses(server).map((address) => new URL(address));
  } finally {
    await closeServer(server);
  }
}

test.each(['0.0.0.0', '0'])(
  'a server on all addresses (%s) is found under names that it answers to',
  async (host) => {
    const addresses = await addressesOn(host);
    const others = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .map(({ address }) => address);
    expect(addresses.map((address) => address.hostname)).toEqual([
      '127.0.0.1',
      hostname().toLowerCase(),
      ...others,
    ]);
    for (const address of addresses) refuseStrangers({ headers: { host: address.host } }, host);
  },
);

test('a server on one address is found there alone', async () => {
  const addresses = await addressesOn('127.0.0.1');
  expect(addresses.map((address) => address.hostname)).toEqual(['127.0.0.1']);
});
