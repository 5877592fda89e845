import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from '@jest/globals';

import { VersionGate } from '#agent_rl/gateway/sampling/places.ts';

test('weights change after the turns in progress and before the next turn', async () => {
  const gate = new VersionGate();
  const order: string[] = [];
  const turn = (name: string, ms: number) =>
    gate.turn(async () => {
      order.push(`${name} begins`);
      await sleep(ms);
      order.push(`${name} ends`);
    });
  const first = turn('first', 20);
  await sleep(1);
  const change = gate.between(async () => void order.push('other weights'));
  const second = turn('second', 0);
  await Promise.all([first, change, second]);
  expect(order).toEqual([
    'first begins',
    'first ends',
    'other weights',
    'second begins',
    'second ends',
  ]);
});

test('a failed change lets the next turns through', async () => {
  const gate = new VersionGate();
  await expect(gate.between(() => Promise.reject(new Error('not read')))).rejects.toThrow(
    'not read',
  );
  expect(await gate.turn(async () => 1)).toBe(1);
});
