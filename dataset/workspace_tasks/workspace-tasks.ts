import { type Static, Type } from 'typebox';

import { integer, most } from '../../agent_rl/config/blocks/block.ts';
import { taskGenerator, type TaskGenerator } from '../../agent_rl/core/tasks/task-generator.ts';
import { evalRows, sliceNames, trainRow, workspaceVersion } from './generator/rows.ts';
import type { WorkspaceRow } from './generator/task.ts';

const slices = sliceNames.filter((name) => name !== undefined);

/** The generator's block in YAML. */
const WorkspaceTaskSettings = Type.Object(
  {
    slices: Type.Array(Type.Enum(slices), {
      description: `Of ${slices.join(', ')}, those that the evaluation asks besides the headline, each reported apart`,
      uniqueItems: true,
      default: ['unseen pairs'],
    }),
    evalTasks: integer('Questions of the headline, and of each slice', {
      minimum: 1,
      maximum: most.count,
      unit: 'tasks',
      default: 200,
    }),
  },
  { additionalProperties: false },
);

export type WorkspaceTaskSettings = Static<typeof WorkspaceTaskSettings>;

/** Questions about worlds drawn for them, see `CARD.md`. */
@taskGenerator({
  name: 'workspace',
  description: 'Questions about a world drawn for each, for the environment workspace.',
  version: workspaceVersion,
  taskFormat: 'question',
  settings: WorkspaceTaskSettings,
})
export class WorkspaceTasks implements TaskGenerator {
  readonly #settings: WorkspaceTaskSettings;

  constructor({ settings }: { settings: WorkspaceTaskSettings }) {
    this.#settings = settings;
  }

  train(seed: number, index: number): WorkspaceRow {
    return trainRow(seed, index);
  }

  evaluation(): WorkspaceRow[] {
    return evalRows(this.#settings.evalTasks, [undefined, ...this.#settings.slices]);
  }
}
