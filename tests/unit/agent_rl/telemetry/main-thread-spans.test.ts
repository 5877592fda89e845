import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { expect, test } from '@jest/globals';

import { recordMainThread } from '#agent_rl/telemetry/main-thread-spans.ts';
import { Profile } from '#agent_rl/telemetry/profile.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const file = join(temporaryFolder(), 'profile.json');

test('the profile has the time in which JavaScript keeps the main thread, without waiting', async () => {
  const profile = Profile.start();
  const stop = recordMainThread();
  await setTimeout(50);
  const until = performance.now() + 200;
  while (performance.now() < until);
  await setTimeout(1000);
  stop();
  stop();
  await profile.write(file);
  profile.close();
  const { traceEvents } = JSON.parse(readFileSync(file, 'utf8')) as {
    traceEvents: { name: string; dur: number; args?: { name?: string } }[];
  };
  expect(traceEvents[0]).toMatchObject({ name: 'thread_name', args: { name: 'main thread' } });
  const seconds = traceEvents
    .filter(({ name }) => name === 'JavaScript')
    .reduce((sum, { dur }) => sum + dur / 1e6, 0);
  expect(seconds).toBeGreaterThan(0.19);
  // The looks before and after may be late.
  expect(seconds).toBeLessThan(0.9);
});
