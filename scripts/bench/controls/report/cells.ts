import type { Interval95, SuccessRate } from '../../../../agent_rl/trainer/success-rate.ts';
import type { Figure } from '../figures.ts';

const percent = (share: number): string => (100 * share).toFixed(1);
const points = (share: number): string => `${share > 0 ? '+' : ''}${percent(share)}`;
const number = (value: number): string => value.toFixed(2);
const change = (value: number): string => `${value > 0 ? '+' : ''}${number(value)}`;

/** How the numbers of a cell are written. */
export const written = { percent, points, number, change };

const nothing = '-';

const withInterval = (
  value: number,
  interval95: Interval95 | null,
  write: (value: number) => string,
): string =>
  interval95 === null
    ? write(value)
    : `${write(value)} [${write(interval95.low)}, ${write(interval95.high)}]`;

/** A success rate in percent, its interval and of how many attempts it is. */
export const rateText = (rate: SuccessRate | undefined): string =>
  rate?.successRate == null
    ? nothing
    : `${withInterval(rate.successRate, rate.interval95, percent)} of ${rate.n}`;

export const figureText = (figure: Figure | undefined, write: (value: number) => string): string =>
  figure?.value == null ? nothing : withInterval(figure.value, figure.interval95, write);

export const secondsText = (seconds: number | undefined): string => seconds?.toFixed(0) ?? nothing;
