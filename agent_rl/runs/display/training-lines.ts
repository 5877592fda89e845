import { createProgress, type Metrics, type Progress } from '../../telemetry/index.ts';
import {
  liveNumbers,
  type TrainingDisplay,
  type TrainingDisplayOptions,
} from './training-display.ts';

/** An evaluation is a line for every so many episodes. */
const lineEvery = 50;

/** A plain line for every iteration, and for many episodes of an evaluation. */
export class TrainingLines implements TrainingDisplay {
  #progress: Progress | undefined;
  #label: 'train' | 'eval' | undefined;
  /** When something was last done: the work on what comes next began then. */
  #since: number;
  readonly #clock: () => number;

  constructor(private readonly options: TrainingDisplayOptions) {
    this.#clock = options.clock ?? (() => performance.now());
    this.#since = this.#clock();
  }

  onPhase(): void {}

  onEpisode(): void {}

  onEvaluationEpisode(done: number, episodes: number): void {
    if (done % lineEvery === 0 || done === episodes) this.#of('eval', episodes, 0).update(done);
  }

  onIteration(iteration: number, metrics: Metrics): void {
    const { iterations, secondsLeft } = this.options;
    const progress = this.#of('train', iterations, iteration - 1);
    progress.update(iteration, liveNumbers(metrics), secondsLeft());
  }

  onEvaluation(): void {
    this.close();
    this.#since = this.#clock();
  }

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
