import { join } from 'node:path';

import type { EvaluationTime } from '../../core/run-event.ts';
import { JsonlWriter } from '../../telemetry/index.ts';
import type { Evaluation } from '../../trainer/evaluate.ts';
import type { RunFolder } from '../run-folder.ts';
import { trajectoryLine } from './trajectory-line.ts';

export interface MadeEvaluation {
  when: EvaluationTime;
  /** Iterations done before it. */
  iteration: number;
  evaluation: Evaluation;
}

/** Appends the episodes of an evaluation to `trajectories/eval.jsonl`. @throws AgentRlError `OUTPUT_UNWRITABLE` */
export function writeEvaluation(
  folder: RunFolder,
  { when, iteration, evaluation }: MadeEvaluation,
): void {
  const lines = new JsonlWriter(join(folder.trajectories, 'eval.jsonl'));
  try {
    for (const trajectory of evaluation.trajectories)
      lines.write({ when, iteration, ...trajectoryLine(folder.name, trajectory) });
    lines.flush();
  } finally {
    lines.close();
  }
}
