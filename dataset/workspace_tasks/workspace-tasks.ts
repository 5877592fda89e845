import type { Static } from 'typebox';

import { taskGenerator, type TaskGenerator } from '../../agent_rl/core/tasks/task-generator.ts';
import { evalRows, sliceNames, trainRow, workspaceVersion } from './generator/rows.ts';
import type { WorkspaceRow } from './generator/task.ts';
import { slicedEvaluation } from '../sliced-evaluation.ts';

const slices = sliceNames.filter((name) => name !== undefined);

/** The generator's block in YAML. */
const WorkspaceTaskSettings = slicedEvaluation(slices, ['unseen pairs']);
export type WorkspaceTaskSettings = Static<typeof WorkspaceTaskSettings>;

/** Questions about worlds drawn for them, see `CARD.md`. */
@taskGenerator({
  name: 'workspace',
  description: 'Questions that each come with a world of their own, for the environment workspace.',
  version: workspaceVersion,
  taskFormat: 'question',
  settings: WorkspaceTaskSettings,
})
export class WorkspaceTasks implements TaskGenerator {
  constructor(private readonly given: { settings: WorkspaceTaskSettings }) {}

  train(seed: number, index: number): WorkspaceRow {
    return trainRow(seed, index);
  }

  evaluation(): WorkspaceRow[] {
    return evalRows(this.given.settings.evalTasks, [undefined, ...this.given.settings.slices]);
  }
}
