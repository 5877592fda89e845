import { type Config, runLength } from '../../config/index.ts';

/** Evaluations of the held-out tasks that follow an iteration, and of those that the best checkpoint is chosen by. */
export function evaluationsAfter(
  iteration: number,
  config: Config,
): { heldOut: number; selection: number } {
  const { every, after } = config.eval;
  const { last, planned } = runLength(config);
  const upTo = (end: number): number => (every === 0 ? 0 : Math.floor(end / every));
  // That of the last iteration is the one after training.
  const end = Math.min(last, planned - 1);
  const during = Math.max(0, upTo(end) - upTo(iteration));
  const atEnd = Number(last >= planned && iteration < last);
  return { heldOut: during + Number(after), selection: during + atEnd };
}
