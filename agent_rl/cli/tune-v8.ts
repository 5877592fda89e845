import { setFlagsFromString } from 'node:v8';

/** By how much of what lives on it V8 lets a heap grow before it looks for garbage, in percent. Arrays that programs return count. */
const growingPercent = 150;

/** How much bytecode a function runs before V8 optimises it: eight times what Node.js 20 has. */
const interruptBudget = 8 * 67_584;

/**
 * Has V8 do less beside the work, in all threads of this process. Measured in docs/design/log.md.
 *
 * - It collects garbage of JavaScript by how much lives. By itself it lets a heap grow to several times of that where the machine has
 *   memory; a share of 60 % saves little of it and collects more than twice as often.
 * - Each thread optimises what it runs for itself, and most of what it optimises does not run long enough to pay for that. From Node.js 22
 *   on a quicker compiler comes first, and there is no such setting.
 */
export function tuneV8(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
  if (process.versions.node.startsWith('20.'))
    setFlagsFromString(`--interrupt-budget=${interruptBudget}`);
}
