import { join } from 'node:path';

import { membersOf } from '../../core/rollout.ts';
import { JsonlWriter } from '../../telemetry/index.ts';
import type { Evaluation } from '../../trainer/evaluate.ts';
import type { RunFolder } from '../run-folder.ts';
import { trajectoryLine } from './trajectory-line.ts';

/** Appends the rollouts of an evaluation to `trajectories/eval.jsonl`. @throws AgentRlError `OUTPUT_UNWRITABLE` */
export function writeEvaluation(
  folder: Pick<RunFolder, 'trajectories'>,
  { rollouts }: Pick<Evaluation, 'rollouts'>,
): void {
  const lines = new JsonlWriter(join(folder.trajectories, 'eval.jsonl'));
  try {
    for (const member of rollouts.flatMap(membersOf)) lines.write(trajectoryLine(member));
    lines.flush();
  } finally {
    lines.close();
  }
}
