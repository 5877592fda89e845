import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Task } from '../../../agent_rl/core/tasks/task.ts';
import type { TaskPlan, TaskPlanOptions } from './task-plan.ts';

/** Tasks without end, made when they are drawn. */
export interface EndlessTasks<Row extends Task = Task> {
  /** What makes them, in words: a state of a plan keeps it, to recognise one of another source. */
  readonly source: string;
  /** The task of a whole number from 0 on, always the same. */
  readonly taskAt: (index: number) => Row;
}

/** Tasks without end with each of them changed. */
export const mapEndless = <Row extends Task>(
  { source, taskAt }: EndlessTasks<Row>,
  change: (task: Row) => Row,
): EndlessTasks<Row> => ({ source, taskAt: (index) => change(taskAt(index)) });

/** Indexes from which a run takes its tasks, so far apart that none serves two purposes. */
const first = { drawn: 0, drawnAgain: 2 ** 32, selection: 2 ** 33 } as const;

/** Plans tasks without end: draw number n of a run is task n. */
export class EndlessPlan<Row extends Task> implements TaskPlan<Row> {
  readonly sizes: readonly string[];
  readonly #tasks: EndlessTasks<Row>;
  readonly #seed: number;

  constructor(tasks: EndlessTasks<Row>, { seed }: Pick<TaskPlanOptions, 'seed'>) {
    this.#tasks = tasks;
    this.#seed = seed;
    this.sizes = [tasks.source];
  }

  tasksAt(from: number, count: number): Row[] {
    return tasksFrom(this.#tasks, first.drawn + from, count);
  }

  tasksInstead(count: number, path: readonly number[]): Row[] {
    const rng = new KeyedRng(this.#seed, 'sampler', 'again', ...path);
    const indexes = new Set<number>();
    while (indexes.size < count)
      indexes.add(first.drawnAgain + rng.integer(first.selection - first.drawnAgain));
    return Array.from(indexes, (index) => this.#tasks.taskAt(index));
  }
}

/** Tasks that no plan draws, to choose the best checkpoint by. */
export const selectionFrom = <Row extends Task>(tasks: EndlessTasks<Row>, count: number): Row[] =>
  tasksFrom(tasks, first.selection, count);

const tasksFrom = <Row extends Task>(tasks: EndlessTasks<Row>, from: number, count: number) =>
  Array.from({ length: count }, (_, place) => tasks.taskAt(from + place));
