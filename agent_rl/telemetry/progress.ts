import cliProgress from 'cli-progress';

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
  update(done: number, live?: LiveNumbers): void;
  stop(): void;
}

export interface ProgressOptions {
  /** Shown before the bar, `train` or `eval`. */
  label: string;
  total: number;
  /** Done before this progress began, and so no measure of its speed; 0 by default. */
  from?: number;
  /** When the work began, in the clock's milliseconds; by default now. */
  since?: number;
  /** What it is drawn on; stderr by default. */
  stream?: NodeJS.WritableStream & { isTTY?: boolean };
  /** Milliseconds. */
  clock?: () => number;
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

/** A bar on a terminal; elsewhere one plain line per update, so that a log file stays readable. */
export function createProgress(options: ProgressOptions): Progress {
  const { total, from = 0, stream = process.stderr, clock = () => performance.now() } = options;
  const { since = clock() } = options;
  const draw = (stream.isTTY === true ? bar : lines)({ ...options, stream });
  return {
    update: (done, live = {}) => {
      // If the rest goes as fast as what was done since `from`.
      const secondsEach = (clock() - since) / 1000 / (done - from);
      const left = done <= from ? 'unknown' : durationText(secondsEach * (total - done));
      draw.update(done, left, liveText(live));
    },
    stop: () => draw.stop(),
  };
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

type Drawn = ProgressOptions & { stream: NonNullable<ProgressOptions['stream']> };

interface Drawing {
  update(done: number, left: string, live: string): void;
  stop(): void;
}

function bar({ label, total, from = 0, stream }: Drawn): Drawing {
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
    update: (done, left, live) => drawn.update(done, { left, live }),
    stop: () => drawn.stop(),
  };
}

const lines = ({ label, total, stream }: Drawn): Drawing => ({
  update: (done, left, live) => {
    stream.write(`${label} ${done}/${total}  left ${left}  ${live}`.trimEnd() + '\n');
  },
  stop: () => {},
});
