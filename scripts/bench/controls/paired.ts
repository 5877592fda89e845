import {
  compare,
  type Comparison,
  type TaskAttempts,
} from '../../../agent_rl/trainer/success-rate.ts';

/** An evaluation that may have kept its tasks. */
interface Kept {
  perTask?: readonly TaskAttempts[];
}

/**
 * The run less a control on the same tasks, in all and by slice, with intervals by cluster bootstrap over pairs.
 *
 * @returns `undefined` where one of the two kept no tasks, or they attempted others
 */
export const pairedDifference = (run: Kept, control: Kept, seed: number): Comparison | undefined =>
  run.perTask && control.perTask && compare(control.perTask, run.perTask, seed);
