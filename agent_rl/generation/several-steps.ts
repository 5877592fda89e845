import { truncates } from '../core/services/generator.ts';
import { largest } from '../core/long-lists.ts';
import type { StepsInputs } from './programs/step-result.ts';
import type { Slot } from './slot.ts';

/**
 * Steps of the next run for some slots, `most` at most: one where a slot draws from less than a whole distribution, which the program
 * does not do, and no more than the longest turn may still take.
 */
export function stepsOfNextRun(slots: readonly Slot[], most: number): number {
  if (most === 1 || slots.some(({ active }) => truncates(active!.request.sampling))) return 1;
  const left = slots.map(
    ({ pending, active }) => pending.length + active!.request.maxTokens - active!.tokens.length - 1,
  );
  return Math.min(most, largest(left, 1));
}

/** The tokens that `count` steps feed to the rows of some slots. */
export function inputsOfSteps(slots: readonly Slot[], rows: number, count: number): StepsInputs {
  const inputs = {
    tokens: new Int32Array(count * rows).fill(-1),
    positions: new Int32Array(rows).fill(-1),
    uniforms: new Float32Array(count * rows),
    temperatures: new Float32Array(rows).fill(1),
  };
  // Rows without a slot are fed something in the first step, and then what they draw.
  inputs.tokens.fill(0, 0, rows);
  for (const { row, pending, cached, active } of slots) {
    inputs.positions[row] = cached.length;
    inputs.temperatures[row] = active?.request.sampling.temperature ?? 1;
    for (let step = 0; step < count; step++) {
      const at = step * rows + row;
      const left = pending.length - 1 - step;
      if (left >= 0) inputs.tokens[at] = pending[step]!;
      if (left <= 0) inputs.uniforms[at] = active?.uniformAfter(-left) ?? 0;
    }
  }
  return inputs;
}
