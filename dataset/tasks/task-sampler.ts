import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { CodeTask } from '../../agent_rl/core/tasks/code-task.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { append } from '../../agent_rl/core/long-lists.ts';

/** Where training tasks come from; it never ends. */
export interface TaskSource {
  /** The next `count` tasks. */
  draw(count: number): readonly Task[];
  /**
   * Tasks for the places of groups that taught nothing. They depend on the seed and the path alone and move nothing: how
   * often an iteration draws again does not change what the next one trains on.
   */
  drawAgain(count: number, path: readonly number[]): readonly Task[];
  /** Its position, as plain JSON. */
  state(): unknown;
  restore(state: unknown): void;
}

export interface SamplerOptions {
  seed: number;
  /** Another order in every epoch; off for evaluation sweeps. Default true. */
  shuffle?: boolean;
  /** Most tasks ever drawn: a choice by the seed, not the first of the file. Default all. */
  maxSamples?: number;
}

/** Position of a sampler; plain data for a checkpoint. */
export interface SamplerState {
  epoch: number;
  /** Tasks already taken of this epoch. */
  position: number;
  /** Tasks in an epoch, to recognise a state of other data. */
  size: number;
}

/** Draws tasks epoch after epoch. The order depends on the seed and the epoch alone. */
export class TaskSampler<Row extends Task> {
  /** What an epoch holds, in the file's order. */
  readonly tasks: readonly Row[];
  readonly #options: SamplerOptions;
  #epoch = 0;
  #position = 0;
  #order: readonly Row[];

  /** @throws AgentRlError `DATASET_INVALID` without tasks, `CONFIG_INVALID` for a bad `maxSamples`. */
  constructor(tasks: Iterable<Row>, options: SamplerOptions) {
    this.#options = options;
    this.tasks = choose([...tasks], options);
    if (this.tasks.length === 0) {
      throw new AgentRlError(
        'DATASET_INVALID',
        'A sampler was given 0 tasks; it needs at least 1.',
      );
    }
    this.#order = this.#orderOf(0);
  }

  /** The next tasks; continues into the next epoch where this one ends. */
  next(count: number): Row[] {
    const batch: Row[] = [];
    while (batch.length < count) {
      if (this.#position === this.#order.length) this.#moveTo(this.#epoch + 1, 0);
      const taken = this.#order.slice(this.#position, this.#position + count - batch.length);
      this.#position += taken.length;
      append(batch, taken);
    }
    return batch;
  }

  /** See `TaskSource.drawAgain`. Tasks are distinct as far as there are enough. */
  again(count: number, path: readonly number[]): Row[] {
    const rng = new KeyedRng(this.#options.seed, 'sampler', 'again', ...path);
    const order = rng.shuffle(this.tasks);
    return Array.from({ length: count }, (_, index) => order[index % order.length] as Row);
  }

  state(): SamplerState {
    return { epoch: this.#epoch, position: this.#position, size: this.tasks.length };
  }

  /** @throws AgentRlError `CHECKPOINT_INVALID` for a state of other data. */
  restore({ epoch, position, size }: SamplerState): void {
    if (size !== this.tasks.length || position < 0 || position > size || epoch < 0) {
      throw new AgentRlError(
        'CHECKPOINT_INVALID',
        `The sampler's state is position ${position} of ${size} in epoch ${epoch}, but the dataset has ` +
          `${this.tasks.length} tasks. Resume with the dataset and maxSamples the run began with.`,
      );
    }
    this.#moveTo(epoch, position);
  }

  #moveTo(epoch: number, position: number): void {
    this.#epoch = epoch;
    this.#position = position;
    this.#order = this.#orderOf(epoch);
  }

  #orderOf(epoch: number): readonly Row[] {
    if (this.#options.shuffle === false) return this.tasks;
    return new KeyedRng(this.#options.seed, 'sampler', epoch).shuffle(this.tasks);
  }
}

/** Draws code tasks epoch after epoch; see `TaskSampler`. */
export class CodeTaskSampler extends TaskSampler<CodeTask> {}

function choose<Row extends Task>(
  tasks: readonly Row[],
  { seed, maxSamples }: SamplerOptions,
): Row[] {
  if (maxSamples === undefined) return [...tasks];
  if (!Number.isSafeInteger(maxSamples) || maxSamples < 1) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `maxSamples is ${maxSamples}; expected a whole number of at least 1, or nothing for all tasks.`,
    );
  }
  const places = new KeyedRng(seed, 'sampler', 'choice').shuffle([...tasks.keys()]);
  const chosen = new Set(places.slice(0, maxSamples));
  return tasks.filter((_, place) => chosen.has(place));
}
