import { createProgress, type Progress } from '../../telemetry/index.ts';
import type { Subscriber } from '../../trainer/trainer-contracts.ts';
import {
  liveNumbers,
  type TrainingDisplay,
  type TrainingDisplayOptions,
} from './training-display.ts';

/** An evaluation is a line each time this many episodes are done. */
const lineEvery = 50;

/** A plain line for every iteration, and for many episodes of an evaluation. */
export class TrainingLines implements TrainingDisplay {
  #progress: Progress | undefined;
  #label: 'train' | 'eval' | undefined;
  /** Episodes of the evaluation under way. */
  #done = 0;
  /** When something was last done: the work on what comes next began then. */
  #since: number;
  readonly #clock: () => number;

  constructor(private readonly options: TrainingDisplayOptions) {
    this.#clock = options.clock ?? (() => performance.now());
    this.#since = this.#clock();
  }

  readonly on: Subscriber = (event) => {
    const { iterations, secondsLeft } = this.options;
    if (event.type === 'evaluation-rollout') {
      const { episodes } = event;
      this.#done += 1;
      if (this.#done % lineEvery === 0 || this.#done === episodes)
        this.#of('eval', episodes, 0).update(this.#done);
    }
    if (event.type === 'iteration') {
      const progress = this.#of('train', iterations, event.iteration - 1);
      progress.update(event.iteration, liveNumbers(event.metrics), secondsLeft());
    }
    if (event.type === 'end') this.close();
    if (event.type === 'evaluation') {
      this.close();
      this.#done = 0;
      this.#since = this.#clock();
    }
  };

  close(): void {
    this.#progress?.stop();
    this.#progress = undefined;
  }

  #of(label: 'train' | 'eval', total: number, from: number): Progress {
    if (this.#label !== label) this.close();
    this.#label = label;
    this.#progress ??= createProgress({ ...this.options, label, total, from, since: this.#since });
    this.#since = this.#clock();
    return this.#progress;
  }
}
