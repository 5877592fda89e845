import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { largest } from '../../../agent_rl/core/long-lists.ts';
import type { Task } from '../../../agent_rl/core/tasks/task.ts';
import { EndlessPlan, type EndlessTasks } from './endless-plan.ts';
import { EpochPlan, type TaskPlan, type TaskPlanOptions } from './task-plan.ts';

/** Tasks, and how often they are drawn relative to other sets. */
export interface WeightedTasks<Row extends Task> {
  tasks: Iterable<Row> | EndlessTasks<Row>;
  /** Above 0; only the ratios count. */
  weight: number;
}

/** A draw: which set it is from, and how many of that set came before it. */
interface Draw {
  set: number;
  place: number;
}

/** Plans the tasks of one set. */
export const planOfOne = <Row extends Task>(
  tasks: WeightedTasks<Row>['tasks'],
  options: TaskPlanOptions,
): TaskPlan<Row> =>
  'taskAt' in tasks ? new EndlessPlan(tasks, options) : new EpochPlan(tasks, options);

/**
 * Plans tasks of several sets in the ratio of their weights: after any number of draws, each set has given its share to
 * within one task.
 */
export class MixedPlan<Row extends Task> implements TaskPlan<Row> {
  readonly sizes: TaskPlan['sizes'];
  readonly #plans: readonly TaskPlan<Row>[];
  readonly #shares: readonly number[];
  readonly #seed: number;
  /** Worked out so far, from the first on. */
  readonly #draws: Draw[] = [];
  readonly #given: number[];

  /** @throws AgentRlError `CONFIG_INVALID` for a weight that is not above 0, and as `EpochPlan` does. */
  constructor(sets: readonly WeightedTasks<Row>[], options: TaskPlanOptions) {
    const bad = sets.find(({ weight }) => !(weight > 0 && Number.isFinite(weight)));
    if (bad !== undefined) {
      const text = `A set of tasks has weight ${bad.weight}; expected a number above 0.`;
      throw new AgentRlError('CONFIG_INVALID', text);
    }
    this.#seed = options.seed;
    const total = sets.reduce((sum, { weight }) => sum + weight, 0);
    this.#plans = sets.map(({ tasks }) => planOfOne(tasks, options));
    this.sizes = this.#plans.flatMap(({ sizes }) => sizes);
    this.#shares = sets.map(({ weight }) => weight / total);
    this.#given = sets.map(() => 0);
  }

  tasksAt(first: number, count: number): Row[] {
    while (this.#draws.length < first + count) this.#draws.push(this.#next());
    return this.#draws
      .slice(first, first + count)
      .map(({ set, place }) => this.#plans[set]?.tasksAt(place, 1)[0] as Row);
  }

  /** Each from a set chosen by its share. */
  tasksInstead(count: number, path: readonly number[]): Row[] {
    const rng = new KeyedRng(this.#seed, 'sampler', 'again', 'sets', ...path);
    const sets = Array.from({ length: count }, () => this.#setAt(rng.uniform()));
    const drawn = this.#plans.map((plan, set) =>
      plan.tasksInstead(sets.filter((one) => one === set).length, path).values(),
    );
    return sets.map((set) => drawn[set]?.next().value as Row);
  }

  /** The set whose part of the shares, one after another, holds a number in [0, 1). */
  #setAt(uniform: number): number {
    let left = uniform;
    const set = this.#shares.findIndex((share) => (left -= share) < 0);
    return set === -1 ? this.#shares.length - 1 : set;
  }

  /** From the set that is furthest behind its share once this task is counted; the first of equals. */
  #next(): Draw {
    const after = this.#draws.length + 1;
    const behind = this.#shares.map((share, index) => share * after - (this.#given[index] ?? 0));
    const set = behind.indexOf(largest(behind));
    const place = this.#given[set] ?? 0;
    this.#given[set] = place + 1;
    return { set, place };
  }
}
