import type { CodeTask } from '../../../agent_rl/core/tasks/code-task.ts';
import {
  drawsOf,
  EpochPlan,
  stateAfter,
  type TaskPlanOptions,
  type TaskPlanState,
} from './task-plan.ts';

/** Code tasks one batch after another, for a loop of your own; see `EpochPlan`. */
export class CodeTaskSampler {
  readonly #plan: EpochPlan<CodeTask>;
  #drawn = 0;

  /** @throws AgentRlError `DATASET_INVALID` without tasks, `CONFIG_INVALID` for a bad `maxSamples`. */
  constructor(tasks: Iterable<CodeTask>, options: TaskPlanOptions) {
    this.#plan = new EpochPlan(tasks, options);
  }

  /** The next tasks; continues into the next epoch where this one ends. */
  next(count: number): CodeTask[] {
    const tasks = this.#plan.tasksAt(this.#drawn, count);
    this.#drawn += count;
    return tasks;
  }

  state(): TaskPlanState {
    return stateAfter(this.#drawn, this.#plan);
  }

  /** @throws AgentRlError `CHECKPOINT_INVALID` for a state of other data. */
  restore(state: TaskPlanState): void {
    this.#drawn = drawsOf(state, this.#plan);
  }
}
