import { afterAll, expect, test } from '@jest/globals';

import { closePageThread, readInThread } from '#agent_rl/search/web/pages/read-in-thread.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const unending = () => new AbortController().signal;
const page = '<title>T</title><p>Ina Kost built the bridge.';
const endless = `<p>${'&nbsp;'.repeat(340_000)}`;

afterAll(closePageThread);

test('pages are read in parallel, with a broken one among them', async () => {
  const signal = unending();
  const broken = rejectionOf(readInThread('<div>'.repeat(600), { signal }));
  const read = await Promise.all([1, 2, 3].map(async () => readInThread(page, { signal })));
  expect(read).toEqual([1, 2, 3].map(() => ({ title: 'T', text: 'Ina Kost built the bridge.' })));
  expect(await broken).toMatchObject({ kind: 'bad-response' });
});

test('the thread of a slow page is ended, and the next page is read', async () => {
  const signal = unending();
  const late = rejectionOf(readInThread(endless, { signal, seconds: 0.5 }));
  const next = readInThread(page, { signal });
  const message = 'the page could not be parsed within 0.5 s';
  expect(await late).toMatchObject({ kind: 'timeout', message });
  expect(await next).toMatchObject({ title: 'T' });
});

test('an aborted caller gets the reason, and the next page is read', async () => {
  const giving = new AbortController();
  const reading = readInThread(endless, { signal: giving.signal });
  const waiting = readInThread(page, { signal: unending() });
  setTimeout(() => giving.abort(new Error('the episode is over')), 200);
  await expect(reading).rejects.toThrow('the episode is over');
  expect(await waiting).toMatchObject({ title: 'T' });
});
