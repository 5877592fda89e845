import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from '@jest/globals';

import { MachineWatch } from '#tests/attacks/host/machine-watch.ts';

const onLinux = process.platform === 'linux' ? test : test.skip;
const mebibyte = 2 ** 20;
const allowed = { bytes: 2 ** 50, machineBytes: 2 ** 50, processes: 2 ** 20 };

/** A process that holds memory for a while. */
async function holdMemory(bytes: number): Promise<void> {
  const program = `const kept = Buffer.alloc(${bytes}, 1); setTimeout(() => kept, 500);`;
  await once(spawn(process.execPath, ['-e', program]), 'exit');
}

onLinux('The watch sees memory of processes that this one started', async () => {
  const watch = new MachineWatch(1, { ...allowed, bytes: 150 * mebibyte });
  await holdMemory(300 * mebibyte);
  expect(watch.end()).toEqual([expect.stringMatching(/^took 0\.\d GiB of memory$/)]);
});

onLinux('The watch counts processes', async () => {
  const watch = new MachineWatch(1, { ...allowed, processes: 1 });
  await Promise.all([holdMemory(1), holdMemory(1), holdMemory(1)]);
  expect(watch.end()).toEqual(['started 3 processes']);
});
