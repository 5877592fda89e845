import { workerData } from 'node:worker_threads';

import type { HelperStart } from './update-helper.ts';
import { UpdateSlot } from './update-slot.ts';

/*
 * Entry of a thread that helps with the optimiser's steps. It waits on shared memory and not for messages: the thread that takes a
 * step does not return to its event loop before the step is done.
 */

const { moments, slots: memories, bell: memory } = workerData as HelperStart;
const slots = memories.map((one) => new UpdateSlot(one));
const bell = new Int32Array(memory);

for (;;) {
  const heard = Atomics.load(bell, 0);
  const worked = slots.filter((slot) => slot.work(moments));
  if (worked.length === 0) Atomics.wait(bell, 0, heard);
}
