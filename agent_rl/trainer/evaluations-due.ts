import { plannedIterations } from './optim-options.ts';
import type { EvaluationTime } from './trainer-contracts.ts';
import type { GrpoOptions } from './training-options.ts';

/** The evaluations to make after an iteration; the one after training is not among them. */
export function evaluationsDue(
  iteration: number,
  { train, eval: evaluation, checkpoint }: Pick<GrpoOptions, 'train' | 'eval' | 'checkpoint'>,
): EvaluationTime[] {
  const due = evaluation.every > 0 && iteration % evaluation.every === 0;
  const last = iteration === plannedIterations(train);
  const during: EvaluationTime[] = due && !last ? ['during'] : [];
  return checkpoint.keepBest && (due || last) ? [...during, 'selection'] : during;
}
