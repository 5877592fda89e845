import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';

import { type SamplerOptions, type SamplerState, TaskSampler } from './task-sampler.ts';
import { largest } from '../../agent_rl/core/long-lists.ts';

/** Tasks, and how often they are drawn beside those of other sets. */
export interface WeightedTasks<Row extends Task> {
  tasks: Iterable<Row>;
  /** Above 0; only the ratios count. */
  weight: number;
}

/** Position of a mixed sampler: its sets in their order, and how many tasks each has given. */
export interface MixedSamplerState {
  sets: readonly SamplerState[];
  drawn: readonly number[];
}

/**
 * Draws tasks from several sets in the ratio of their weights: after any number of draws, each set has given its share
 * to within one task. Which set comes next depends on nothing but the draws so far.
 */
export class MixedSampler<Row extends Task> {
  readonly #samplers: readonly TaskSampler<Row>[];
  readonly #shares: readonly number[];
  readonly #seed: number;
  #drawn: number[];

  /** @throws AgentRlError `CONFIG_INVALID` for a weight that is not above 0, and as `TaskSampler` does. */
  constructor(sets: readonly WeightedTasks<Row>[], options: SamplerOptions) {
    const bad = sets.find(({ weight }) => !(weight > 0 && Number.isFinite(weight)));
    if (bad !== undefined) {
      const text = `A set of tasks has weight ${bad.weight}; expected a number above 0.`;
      throw new AgentRlError('CONFIG_INVALID', text);
    }
    this.#seed = options.seed;
    const total = sets.reduce((sum, { weight }) => sum + weight, 0);
    this.#samplers = sets.map(({ tasks }) => new TaskSampler(tasks, options));
    this.#shares = sets.map(({ weight }) => weight / total);
    this.#drawn = sets.map(() => 0);
  }

  /** The next tasks. */
  next(count: number): Row[] {
    return Array.from({ length: count }, () => this.#one());
  }

  /** See `TaskSource.drawAgain`: each from a set chosen by its share. */
  again(count: number, path: readonly number[]): Row[] {
    const rng = new KeyedRng(this.#seed, 'sampler', 'again', 'sets', ...path);
    const sets = Array.from({ length: count }, () => this.#setAt(rng.uniform()));
    const drawn = this.#samplers.map((sampler, set) =>
      sampler.again(sets.filter((one) => one === set).length, path).values(),
    );
    return sets.map((set) => drawn[set]?.next().value as Row);
  }

  state(): MixedSamplerState {
    return { sets: this.#samplers.map((sampler) => sampler.state()), drawn: [...this.#drawn] };
  }

  /** @throws AgentRlError `CHECKPOINT_INVALID` for a state of other data. */
  restore({ sets, drawn }: MixedSamplerState): void {
    if (sets?.length !== this.#samplers.length || drawn?.length !== this.#samplers.length) {
      throw new AgentRlError(
        'CHECKPOINT_INVALID',
        `The sampler's state is of ${sets?.length ?? 1} sets of tasks, but the config names ${this.#samplers.length}. Resume with the dataset the run began with.`,
      );
    }
    for (const [index, sampler] of this.#samplers.entries()) {
      sampler.restore(sets[index] as SamplerState);
    }
    this.#drawn = [...drawn];
  }

  /** The set whose part of the shares, one after another, holds a number in [0, 1). */
  #setAt(uniform: number): number {
    let left = uniform;
    const set = this.#shares.findIndex((share) => (left -= share) < 0);
    return set === -1 ? this.#shares.length - 1 : set;
  }

  /** From the set that is furthest behind its share once this task is counted; the first of equals. */
  #one(): Row {
    const next = this.#drawn.reduce((sum, drawn) => sum + drawn, 1);
    const behind = this.#shares.map((share, index) => share * next - (this.#drawn[index] ?? 0));
    const chosen = behind.indexOf(largest(behind));
    this.#drawn[chosen] = (this.#drawn[chosen] ?? 0) + 1;
    const [task] = this.#samplers[chosen]?.next(1) ?? [];
    if (task === undefined) throw new RangeError('A sampler gave no task.');
    return task;
  }
}
