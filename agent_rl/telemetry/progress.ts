import cliProgress from 'cli-progress';

/** What is shown live beside the bar. */
export interface LiveNumbers {
  reward?: number;
  /** Shares, 0 to 1. */
  success?: number;
  toolCallRate?: number;
  tokensPerSecond?: number;
}

/** How far something is. */
export interface Progress {
  update(done: number, live?: LiveNumbers): void;
  stop(): void;
}

/** What a progress is drawn on: stderr, or a stand-in. */
export interface ProgressStream {
  isTTY?: boolean;
  write(text: string): unknown;
}

export interface ProgressOptions {
  /** Said before the bar, `train` or `eval`. */
  label: string;
  total: number;
  /** Done before this progress began, and so no measure of its speed; 0 by default. */
  from?: number;
  /** When the work began, in the clock's milliseconds; by default now. */
  since?: number;
  stream?: ProgressStream & NodeJS.WritableStream;
  /** Milliseconds. */
  clock?: () => number;
}

const share = (value: number): string => `${(100 * value).toFixed(0)} %`;

/** `reward 0.41  success 38 %  calls 92 %  1840 tok/s`. */
export function liveText({ reward, success, toolCallRate, tokensPerSecond }: LiveNumbers): string {
  return [
    reward === undefined ? undefined : `reward ${reward.toFixed(2)}`,
    success === undefined ? undefined : `success ${share(success)}`,
    toolCallRate === undefined ? undefined : `calls ${share(toolCallRate)}`,
    tokensPerSecond === undefined ? undefined : `${tokensPerSecond.toFixed(0)} tok/s`,
  ]
    .filter((part) => part !== undefined)
    .join('  ');
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `1 h 02 min`, `3 min 20 s`, `45 s`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes, rest] = [
    Math.floor(whole / 3600),
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  if (hours > 0) return `${hours} h ${two(minutes)} min`;
  return minutes > 0 ? `${minutes} min ${two(rest)} s` : `${rest} s`;
}

/** A bar on a terminal; elsewhere one plain line per update, so that a log file stays readable. */
export function createProgress(options: ProgressOptions): Progress {
  const { stream = process.stderr } = options;
  return stream.isTTY === true ? bar({ ...options, stream }) : lines({ ...options, stream });
}

/** Draws a progress while an action goes on, and takes it down however the action ends. */
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

type Drawn = ProgressOptions & { stream: NonNullable<ProgressOptions['stream']> };

/** Time left if the rest goes as fast as what was done since `from`. */
function timeLeft(elapsedMs: number, done: number, { total, from = 0 }: Drawn): string {
  if (done <= from) return 'unknown';
  return durationText((elapsedMs / 1000 / (done - from)) * (total - done));
}

function bar(drawing: Drawn): Progress {
  const { label, total, from = 0, stream, clock = () => performance.now() } = drawing;
  const start = drawing.since ?? clock();
  const drawn = new cliProgress.SingleBar({
    format: `${label} [{bar}] {value}/{total}  left {left}  {live}`,
    barsize: 24,
    stream,
    hideCursor: true,
    // The bar must not outlive a Ctrl-C that the run itself handles.
    gracefulExit: false,
  });
  drawn.start(total, from, { left: 'unknown', live: '' });
  return {
    update: (done, live = {}) =>
      drawn.update(done, { left: timeLeft(clock() - start, done, drawing), live: liveText(live) }),
    stop: () => drawn.stop(),
  };
}

function lines(drawing: Drawn): Progress {
  const { label, total, stream, clock = () => performance.now() } = drawing;
  const start = drawing.since ?? clock();
  return {
    update: (done, live = {}) => {
      const left = timeLeft(clock() - start, done, drawing);
      stream.write(`${label} ${done}/${total}  left ${left}  ${liveText(live)}`.trimEnd() + '\n');
    },
    stop: () => {},
  };
}
