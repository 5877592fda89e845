import { setFlagsFromString } from 'node:v8';

/** By how much of what lives on it V8 lets a heap grow before it looks for garbage, in percent. */
const growingPercent = 60;

/**
 * Has V8 collect garbage of JavaScript by how much lives, in all threads of this process. By itself it lets a heap grow to several
 * times of that where the machine has memory; a lower share saves little more of it and collects twice as often
 * (docs/design/log.md).
 */
export const keepHeapSmall = (): void =>
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
