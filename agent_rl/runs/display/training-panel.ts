import {
  countBar,
  durationText,
  flow,
  type LiveNumbers,
  liveText,
  narrowColumns,
  type Panel,
  screenOf,
  type ShownPanel,
  sparkline,
  leftText,
} from '../../telemetry/index.ts';
import type { EvaluationTime, Phase } from '../../core/run-event.ts';
import type { Subscriber } from '../../trainer/trainer-contracts.ts';
import {
  liveNumbers,
  type TrainingDisplay,
  type TrainingDisplayOptions,
} from './training-display.ts';

/** Newest iterations that are kept for the sparklines: as many as the widest of them has columns. */
const mostIterations = 60;

const evaluations: Readonly<Record<EvaluationTime, string>> = {
  before: 'evaluating before training',
  hinted: 'evaluating with the hint',
  during: 'evaluating',
  after: 'evaluating after training',
  selection: 'choosing the best checkpoint',
};

/** What a training does and waits for, how far it is, and how its newest iterations went. */
export class TrainingPanel implements TrainingDisplay, Panel {
  readonly #shown: ShownPanel;
  readonly #clock: () => number;
  #phase: Phase | undefined;
  /** When the phase began. */
  #since: number;
  /** Episodes of the phase. */
  #episodes = 0;
  /** Iterations done. */
  #iteration = 0;
  readonly #newest: LiveNumbers[] = [];

  constructor(private readonly options: TrainingDisplayOptions) {
    const { stream = process.stderr, clock = () => performance.now() } = options;
    this.#clock = clock;
    this.#since = clock();
    this.#shown = screenOf(stream).show(this);
  }

  readonly on: Subscriber = (event) => {
    if (event.type === 'phase') {
      this.#phase = event;
      this.#since = this.#clock();
      this.#episodes = 0;
      this.#iteration = event.iteration;
    } else if (event.type === 'rollout' || event.type === 'evaluation-rollout') {
      this.#episodes += 1;
    } else if (event.type === 'iteration') {
      this.#iteration = event.iteration;
      this.#newest.push(liveNumbers(event.metrics));
      if (this.#newest.length > mostIterations) this.#newest.shift();
    } else {
      if (event.type === 'end') this.close();
      return;
    }
    this.#shown.changed();
  };

  close(): void {
    this.#shown.remove();
  }

  lines(columns: number): readonly string[] {
    const { name, iterations } = this.options;
    const time = this.#timeLeft();
    const last = this.#newest.at(-1);
    if (columns < narrowColumns)
      return [[`${this.#iteration}/${iterations}`, time, liveText(last ?? {})].join('  ')];
    const label = 'iterations';
    const bar = countBar(this.#iteration, iterations, columns - label.length - time.length - 4);
    const { tokensPerSecond, toolCallRate, failed } = last ?? {};
    return [
      ...flow([name, this.#waiting()], columns),
      ...flow([`${label} ${bar}`, time], columns),
      ...this.#sparklines(columns),
      ...flow([liveText({ tokensPerSecond, toolCallRate, failed })].filter(Boolean), columns),
    ];
  }

  #waiting(): string {
    if (this.#phase === undefined) return 'starting';
    const time = durationText((this.#clock() - this.#since) / 1000);
    return `${waitingText(this.#phase, this.#episodes)}, ${time}`;
  }

  #timeLeft(): string {
    const { iterations, secondsLeft } = this.options;
    const left = secondsLeft();
    return this.#iteration === iterations && (left ?? 0) <= 0
      ? 'all iterations done'
      : leftText(left);
  }

  #sparklines(columns: number): string[] {
    const { reward, success } = this.#newest.at(-1) ?? {};
    const [before, between] = ['reward ', '  success '];
    const [one, other] = [liveText({ reward }), liveText({ success })].map((text) =>
      text.replace(/^\w+/, ''),
    );
    if (this.#newest.length === 0) return [];
    const words = before + (one ?? '') + between + (other ?? '');
    const room = Math.max(0, Math.floor((columns - words.length) / 2));
    const shown = this.#newest.slice(-Math.min(room, mostIterations));
    // From 0, or from the lowest where rewards are negative: a small change does not look like a large one.
    const rewards = sparkline(shown.map((numbers) => numbers.reward));
    const successes = sparkline(
      shown.map((numbers) => numbers.success),
      { low: 0, high: 1 },
    );
    return [`${before}${rewards}${one}${between}${successes}${other}`];
  }
}

const waits = {
  update: 'updating: waiting for the learner',
  publish: 'publishing: waiting for the samplers to load the weights',
  checkpoint: 'checkpoint: waiting for the disk',
} as const;

/** `collecting: waiting for 20 of 32 episodes`. */
function waitingText(phase: Phase, done: number): string {
  if (phase.name !== 'collect' && phase.name !== 'evaluate') return waits[phase.name];
  const { episodes } = phase;
  const open = `waiting for ${episodes - done} of ${episodes} episodes`;
  if (phase.name === 'evaluate') return `${evaluations[phase.when]}: ${open}`;
  return done < episodes
    ? `collecting: ${open}`
    : `collecting: ${done} episodes, waiting for rewards or more episodes`;
}
