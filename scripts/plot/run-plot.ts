import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a plot shows of a run, as read from its records. */
export interface RunPoints {
  title: string;
  iterations: number;
  /** Mean reward of the episodes sampled in each iteration, the first iteration first. */
  reward: number[];
  /** Held-out success with its 95 % interval; iteration 0 is before the first update. */
  heldOut: { iteration: number; rate: number; low: number; high: number }[];
  /** Of those intervals; absent for Wilson's, which is all that version 0.1 recorded. */
  interval?: 'cluster bootstrap';
}

interface RunSummary {
  iterations: number;
  eval: Record<'before' | 'after', Rate | null>;
}

interface Rate {
  successRate: number;
  /** Absent or null for what version 0.1 evaluated. */
  interval95?: { low: number; high: number } | null;
  wilson95: [low: number, high: number];
}

/** Reads the points of a finished run from its folder's `metrics.jsonl` and `summary.json`. */
export function readRunPoints(folder: string, title: string): RunPoints {
  const lines = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').trim().split('\n');
  const metrics = lines.map((line) => JSON.parse(line) as Record<string, number>);
  const { iterations, eval: evaluated } = JSON.parse(
    readFileSync(join(folder, 'summary.json'), 'utf8'),
  ) as RunSummary;
  // Version 0.1 may have begun the run: then all have Wilson's interval, which every version records.
  const isOld =
    [evaluated.before, evaluated.after].some((one) => one !== null && !one.interval95) ||
    metrics.some((line) => 'eval/wilsonLow' in line && !('eval/intervalLow' in line));
  const ends = [
    { iteration: 0, evaluation: evaluated.before },
    { iteration: iterations, evaluation: evaluated.after },
  ].flatMap(({ iteration, evaluation }) => {
    if (evaluation === null) return [];
    const { successRate: rate, interval95, wilson95 } = evaluation;
    const [low, high] = isOld || !interval95 ? wilson95 : [interval95.low, interval95.high];
    return [{ iteration, rate, low, high }];
  });
  const kind = isOld ? 'wilson' : 'interval';
  const between = metrics.flatMap((line) => {
    const { iteration = 0, 'eval/successRate': rate } = line;
    const { [`eval/${kind}Low`]: low = 0, [`eval/${kind}High`]: high = 1 } = line;
    const known = ends.some((end) => end.iteration === iteration);
    return rate === undefined || known ? [] : [{ iteration, rate, low, high }];
  });
  return {
    title,
    iterations,
    reward: metrics.map((line) => line['rollout/rewardMean'] ?? NaN),
    heldOut: [...ends, ...between].toSorted((a, b) => a.iteration - b.iteration),
    ...(!isOld && { interval: 'cluster bootstrap' }),
  };
}

const width = 720;
const height = 360;
const plot = { left: 56, right: 700, top: 56, bottom: 312 };

const styles = `
    text { font: 13px system-ui, sans-serif; fill: #333; }
    .title { font-size: 15px; font-weight: 600; }
    .grid { stroke: #ddd; } .axis { stroke: #888; }
    .reward { stroke: #b45309; } .rewardDot { fill: #b45309; }
    .heldOut { stroke: #1d4ed8; } .heldOutDot { fill: #1d4ed8; }
    polyline { fill: none; stroke-width: 2; }
    @media (prefers-color-scheme: dark) {
      text { fill: #ddd; } .grid { stroke: #3a3a3a; }
      .reward { stroke: #fbbf24; } .rewardDot { fill: #fbbf24; }
      .heldOut { stroke: #60a5fa; } .heldOutDot { fill: #60a5fa; }
    }`;

const intervalText = ({ interval }: RunPoints): string =>
  interval === undefined ? 'Wilson 95 % interval' : `95 % interval by ${interval}`;

const round = (value: number): string => String(Math.round(value * 10) / 10);

/** Places of the plot in the picture, from iterations and shares. */
export function scalesOf({ iterations }: RunPoints) {
  const { left, right, top, bottom } = plot;
  return {
    x: (iteration: number) => round(left + ((right - left) * iteration) / iterations),
    y: (share: number) => round(bottom - (bottom - top) * share),
  };
}

/**
 * An SVG of reward and held-out success over the iterations, readable on light and dark backgrounds. Rewards are
 * drawn on the same axis, so they should lie between 0 and 1. The points are kept in `<metadata>`.
 */
export function runPlot(points: RunPoints): string {
  const { x, y } = scalesOf(points);
  const { left, right, bottom } = plot;
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    `<line class="grid" x1="${left}" x2="${right}" y1="${y(share)}" y2="${y(share)}"/>`,
    `<text x="${left - 8}" y="${y(share)}" dy="4" text-anchor="end">${100 * share} %</text>`,
  ]);
  const step = Math.max(1, Math.ceil(points.iterations / 6));
  const ticks = Array.from(
    { length: Math.floor(points.iterations / step) + 1 },
    (_, i) => i * step,
  );
  const reward = points.reward.map((value, index) => `${x(index + 1)},${y(value)}`);
  const heldOut = points.heldOut.map(({ iteration, rate }) => `${x(iteration)},${y(rate)}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${points.title}</title>`,
    `<metadata>${JSON.stringify(points)}</metadata>`,
    `<style>${styles}</style>`,
    `<text class="title" x="${left}" y="22">${points.title}</text>`,
    `<circle class="rewardDot" cx="${left + 6}" cy="38" r="4"/>`,
    `<text x="${left + 16}" y="42">mean reward of sampled episodes</text>`,
    `<circle class="heldOutDot" cx="${left + 256}" cy="38" r="4"/>`,
    `<text x="${left + 266}" y="42">held-out success, ${intervalText(points)}</text>`,
    ...grid,
    `<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`,
    ...ticks.map((t) => `<text x="${x(t)}" y="${bottom + 20}" text-anchor="middle">${t}</text>`),
    `<text x="${(left + right) / 2}" y="${bottom + 40}" text-anchor="middle">iteration</text>`,
    `<polyline class="reward" points="${reward.join(' ')}"/>`,
    ...points.reward.map(
      (value, i) => `<circle class="rewardDot" cx="${x(i + 1)}" cy="${y(value)}" r="2.5"/>`,
    ),
    `<polyline class="heldOut" points="${heldOut.join(' ')}"/>`,
    ...points.heldOut.flatMap(({ iteration, rate, low, high }) => [
      `<line class="heldOut" x1="${x(iteration)}" x2="${x(iteration)}" y1="${y(low)}" y2="${y(high)}"/>`,
      `<circle class="heldOutDot" cx="${x(iteration)}" cy="${y(rate)}" r="4"/>`,
    ]),
    '</svg>\n',
  ].join('\n');
}
