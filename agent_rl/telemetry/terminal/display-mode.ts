/** A stream that may be a terminal. */
export type Terminal = Pick<NodeJS.WriteStream, 'write'> & {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  on?(event: 'resize', listener: () => void): unknown;
  off?(event: 'resize', listener: () => void): unknown;
};

/** Where and whether progress is shown. */
export interface Display {
  /** Nothing is shown. */
  quiet?: boolean | undefined;
  /** stderr by default. */
  stream?: Terminal;
  /** Milliseconds. */
  clock?: () => number;
  /** Of the process by default; it settles whether a panel is drawn. */
  environment?: NodeJS.ProcessEnv;
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '';

/**
 * How progress is shown: as a panel that is drawn over and over, as plain lines, or not at all. A panel needs a terminal
 * that takes escape sequences. `NO_COLOR` (https://no-color.org) asks for none; what a CI calls a terminal is a log, unless
 * `FORCE_COLOR` says otherwise.
 */
export function displayMode({
  quiet = false,
  stream = process.stderr,
  environment = process.env,
}: Display): 'panel' | 'lines' | 'none' {
  if (quiet) return 'none';
  const { NO_COLOR: noColor, FORCE_COLOR: forced, CI: ci, TERM: term } = environment;
  if (stream.isTTY !== true || isSet(noColor) || term === 'dumb') return 'lines';
  const isLog = isSet(ci) && ci !== 'false' && (!isSet(forced) || forced === '0');
  return isLog ? 'lines' : 'panel';
}
