import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import { isRecord } from '../../../agent_rl/core/is-record.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Task } from '../../../agent_rl/core/tasks/task.ts';

/**
 * Which tasks a run plays. A pure function of the seed: whatever an iteration draws again, and in whatever order iterations
 * are collected, each draw gives the same task.
 */
export interface TaskPlan<Row extends Task = Task> {
  /** The draws number `first`, `first + 1`, … of the run, counted from 0: epoch after epoch, without end. */
  tasksAt(first: number, count: number): readonly Row[];
  /**
   * Tasks that replace groups which taught nothing. They depend on the seed and the path alone, and are distinct as
   * long as there are enough.
   */
  tasksInstead(count: number, path: readonly number[]): readonly Row[];
  /** Tasks in an epoch of each set; of one without end, what makes its tasks. */
  readonly sizes: readonly (number | string)[];
}

export interface TaskPlanOptions {
  seed: number;
  /** Another order in every epoch; off for evaluation sweeps. Default true. */
  shuffle?: boolean | undefined;
  /** Most tasks ever drawn: a choice by the seed, not the first of the file. Default all. */
  maxSamples?: number | undefined;
}

/** How far a run is in its plan; plain data for a checkpoint. */
export interface TaskPlanState {
  /** Tasks drawn. */
  draws: number;
  /** To recognise a state of other data. */
  sizes: readonly (number | string)[];
}

/** Plans tasks epoch after epoch. The order depends on the seed and the epoch alone. */
export class EpochPlan<Row extends Task> implements TaskPlan<Row> {
  /** What an epoch holds, in the file's order. */
  readonly tasks: readonly Row[];
  readonly sizes: readonly number[];
  readonly #options: TaskPlanOptions;
  /** The newest epoch that was asked for. */
  #kept: { epoch: number; order: readonly Row[] };

  /** @throws AgentRlError `DATASET_INVALID` without tasks, `CONFIG_INVALID` for a bad `maxSamples`. */
  constructor(tasks: Iterable<Row>, options: TaskPlanOptions) {
    this.#options = options;
    this.tasks = choose([...tasks], options);
    this.sizes = [this.tasks.length];
    if (this.tasks.length === 0)
      throw new AgentRlError(
        'DATASET_INVALID',
        'The data sets have 0 tasks; at least 1 is needed.',
      );
    this.#kept = { epoch: 0, order: this.#orderOf(0) };
  }

  tasksAt(first: number, count: number): Row[] {
    return Array.from({ length: count }, (_, index) => this.#taskAt(first + index));
  }

  tasksInstead(count: number, path: readonly number[]): Row[] {
    const rng = new KeyedRng(this.#options.seed, 'sampler', 'again', ...path);
    const order = rng.shuffle(this.tasks);
    return Array.from({ length: count }, (_, index) => order[index % order.length] as Row);
  }

  #taskAt(draw: number): Row {
    const size = this.tasks.length;
    const epoch = Math.floor(draw / size);
    if (epoch !== this.#kept.epoch) this.#kept = { epoch, order: this.#orderOf(epoch) };
    return this.#kept.order[draw - epoch * size] as Row;
  }

  #orderOf(epoch: number): readonly Row[] {
    if (this.#options.shuffle === false) return this.tasks;
    return new KeyedRng(this.#options.seed, 'sampler', epoch).shuffle(this.tasks);
  }
}

export const stateAfter = (draws: number, { sizes }: Pick<TaskPlan, 'sizes'>): TaskPlanState => ({
  draws,
  sizes,
});

/** How many tasks were drawn at a state. @throws AgentRlError `CHECKPOINT_INVALID` for a state of other data. */
export function drawsOf(state: unknown, { sizes }: Pick<TaskPlan, 'sizes'>): number {
  const { draws, sizes: before } = readState(state);
  const same = before.length === sizes.length && before.every((size, set) => size === sizes[set]);
  if (same && Number.isSafeInteger(draws) && draws >= 0) return draws;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run has drawn ${draws} times from ${inWords(before)}, but the config now has ${inWords(sizes)}. Resume with the data sets and the maxSamples that the run was started with.`,
  );
}

const inWords = (sizes: TaskPlanState['sizes']): string =>
  sizes.map((size) => (typeof size === 'string' ? size : `${size} tasks`)).join(' and ') ||
  'no tasks';

/** Versions before 0.2 kept the epoch and the place in it, and of several sets each one's draws. */
function readState(state: unknown): TaskPlanState {
  if (!isRecord(state)) return { draws: Number.NaN, sizes: [] };
  const { draws, sizes, sets, drawn, epoch, position, size } = state;
  if (Array.isArray(sizes)) return { draws: Number(draws), sizes: sizes.map(readSize) };
  if (Array.isArray(sets) && Array.isArray(drawn)) {
    const total = drawn.reduce((sum: number, one) => sum + Number(one), 0);
    return { draws: total, sizes: sets.map((set) => (isRecord(set) ? Number(set['size']) : 0)) };
  }
  return { draws: Number(epoch) * Number(size) + Number(position), sizes: [Number(size)] };
}

const readSize = (size: unknown): number | string =>
  typeof size === 'string' ? size : Number(size);

function choose<Row extends Task>(
  tasks: readonly Row[],
  { seed, maxSamples }: TaskPlanOptions,
): Row[] {
  if (maxSamples === undefined) return [...tasks];
  if (!Number.isSafeInteger(maxSamples) || maxSamples < 1) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `maxSamples is ${maxSamples}; expected a whole number of at least 1; leave it out to use all tasks.`,
    );
  }
  const places = new KeyedRng(seed, 'sampler', 'choice').shuffle([...tasks.keys()]);
  const chosen = new Set(places.slice(0, maxSamples));
  return tasks.filter((_, place) => chosen.has(place));
}
