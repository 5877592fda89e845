import { expect, test } from '@jest/globals';

import { inTime } from '#agent_rl/core/stopping/abort.ts';
import { notTimed } from '#agent_rl/core/stopping/work-clock.ts';

const late = new Error('late');
const never = new AbortController().signal;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const within = <Value>(seconds: number, work: () => Promise<Value>) =>
  inTime(work, { seconds, signal: never, late });

test('waiting for a service of the run does not count', async () => {
  await expect(within(0.05, () => notTimed(() => sleep(120)))).resolves.toBeUndefined();
});

test('overlapping waits stop the clock until the last one ends', async () => {
  const both = () => Promise.all([notTimed(() => sleep(30)), notTimed(() => sleep(120))]);
  await expect(within(0.05, both)).resolves.toHaveLength(2);
});

test('the remaining time counts after a wait', async () => {
  const work = async () => {
    await notTimed(() => sleep(80));
    await sleep(300);
  };
  await expect(within(0.03, work)).rejects.toBe(late);
});

test('a wait stops the clocks of all work around it', async () => {
  const inner = () => within(0.05, () => notTimed(() => sleep(120)));
  await expect(within(0.05, inner)).resolves.toBeUndefined();
});

test('a failed wait restarts the clock', async () => {
  const work = async () => {
    await notTimed(() => Promise.reject(new Error('no'))).catch(() => undefined);
    await sleep(300);
  };
  await expect(within(0.03, work)).rejects.toBe(late);
});
