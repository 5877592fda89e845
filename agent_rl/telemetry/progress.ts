import { type Display, displayMode } from './terminal/display-mode.ts';
import { barText, flow, narrowColumns } from './terminal/panel-text.ts';
import { screenOf, type ShownPanel } from './terminal/screen.ts';

/** What is shown live beside the bar. */
export interface LiveNumbers {
  reward?: number | undefined;
  /** Shares, 0 to 1. */
  success?: number | undefined;
  /** Of the episodes, those that are in neither. */
  failed?: number | undefined;
  toolCallRate?: number | undefined;
  tokensPerSecond?: number | undefined;
}

/** How much of a job is done. */
export interface Progress {
  /** @param secondsLeft where more is known of it than how fast it went so far */
  update(done: number, live?: LiveNumbers, secondsLeft?: number): void;
  stop(): void;
}

export interface ProgressOptions extends Display {
  /** Shown before the bar, `train` or `eval`. */
  label: string;
  total: number;
  /** Done before this progress began, and so no measure of its speed; 0 by default. */
  from?: number;
  /** When the work began, in the clock's milliseconds; by default now. */
  since?: number;
  /** Without a panel, a line is written each time this many are done, and for the last. */
  lineEvery?: number;
}

/** A few of many are not none. */
const share = (value: number): string =>
  value > 0 && value < 0.005 ? '<1 %' : `${(100 * value).toFixed(0)} %`;

/** `reward 0.41  success 38 %  failed 0 %  calls 92 %  1840 tok/s`. */
export function liveText({
  reward,
  success,
  failed,
  toolCallRate,
  tokensPerSecond,
}: LiveNumbers): string {
  const parts = [
    reward !== undefined && `reward ${reward.toFixed(2)}`,
    success !== undefined && `success ${share(success)}`,
    failed !== undefined && `failed ${share(failed)}`,
    toolCallRate !== undefined && `calls ${share(toolCallRate)}`,
    tokensPerSecond !== undefined && `${tokensPerSecond.toFixed(0)} tok/s`,
  ];
  return parts.filter((part) => part !== false).join('  ');
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `1 h 02 min`, `3 min 20 s`, `45 s`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  return minutes > 0 ? `${minutes} min ${two(whole % 60)} s` : `${whole} s`;
}

/** A panel on a terminal; elsewhere plain lines, so that a log file stays readable. */
export function createProgress(options: ProgressOptions): Progress {
  const { stream = process.stderr, clock = () => performance.now() } = options;
  const mode = displayMode(options);
  if (mode === 'none') return { update: () => undefined, stop: () => undefined };
  const work = { ...options, stream, clock, since: options.since ?? clock() };
  return (mode === 'panel' ? panel : lines)(work);
}

/** Shows progress while an action runs, and removes it however the action ends. */
export async function withProgress<Result>(
  options: ProgressOptions,
  action: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  const progress = createProgress(options);
  try {
    return await action(progress);
  } finally {
    progress.stop();
  }
}

type Work = ProgressOptions & Required<Pick<ProgressOptions, 'stream' | 'clock' | 'since'>>;

function lines({ label, total, from = 0, lineEvery = 1, since, stream, clock }: Work): Progress {
  return {
    update: (done, live = {}, secondsLeft) => {
      if (done % lineEvery !== 0 && done !== total) return;
      // If the rest goes as fast as what was done since `from`.
      const left =
        secondsLeft === undefined
          ? timeLeft((total - done) / (done - from), clock() - since)
          : leftText(secondsLeft);
      stream.write(`${label} ${done}/${total}  ${left}  ${liveText(live)}`.trimEnd() + '\n');
    },
    stop: () => undefined,
  };
}

/** `left 3 min 20 s`. */
export const leftText = (seconds: number | undefined): string =>
  seconds === undefined ? 'left unknown' : `left ${durationText(seconds)}`;

/**
 * The same, at the speed so far.
 *
 * @param ratio what is left to what is done
 * @param milliseconds how long what is done took
 * @param passed milliseconds since then
 */
const timeLeft = (ratio: number, milliseconds: number, passed = 0): string =>
  leftText(
    Number.isFinite(ratio) && ratio >= 0 ? (ratio * milliseconds - passed) / 1000 : undefined,
  );

const widestBar = 30;

/** `[████░░░░] 3/8`, as wide as fits beside what else is on the line. */
export function countBar(done: number, total: number, columns: number): string {
  const count = `${done}/${total}`;
  const room = Math.min(widestBar, columns - count.length - 3);
  return room < 5 ? count : `[${barText(total > 0 ? done / total : 1, room)}] ${count}`;
}

function panel({ label, total, from = 0, since, stream, clock }: Work): Progress {
  let done = from;
  let live: LiveNumbers = {};
  /** When the last of what is done was done: the estimate goes down from there while nothing is. */
  let at = since;
  const shown: ShownPanel = screenOf(stream).show({
    lines: (columns) => {
      const time = timeLeft((total - done) / (done - from), at - since, clock() - at);
      const room = columns - label.length - time.length - 4;
      const parts = [label, countBar(done, total, room), time, liveText(live)].filter(Boolean);
      return columns < narrowColumns ? [parts.join(' ')] : flow(parts, columns);
    },
  });
  return {
    update: (nowDone, numbers = {}) => {
      done = nowDone;
      live = numbers;
      at = clock();
      shown.changed();
    },
    stop: () => shown.remove(),
  };
}
