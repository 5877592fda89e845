import type { TaskRow } from '../../runs/view/api.ts';
import type { Line } from '../charts/plot-data.ts';

/** As many as there are colours. */
const mostSlices = 8;

interface Tally {
  attempts: number;
  successes: number;
}

/** Success of training episodes by slice and iteration with Wilson's intervals; the slices with most attempts. */
export function sliceLines(tasks: readonly TaskRow[]): { lines: Line[]; left: number } {
  const slices = new Map<string, Map<number, Tally>>();
  for (const { slice, byIteration } of tasks) {
    if (slice === null) continue;
    const tallies = slices.get(slice) ?? new Map<number, Tally>();
    slices.set(slice, tallies);
    for (const { iteration, set, attempts, successes } of byIteration) {
      if (set !== 'train') continue;
      const was = tallies.get(iteration) ?? { attempts: 0, successes: 0 };
      tallies.set(iteration, {
        attempts: was.attempts + attempts,
        successes: was.successes + successes,
      });
    }
  }
  const sized = [...slices].filter(([, tallies]) => tallies.size > 0);
  const largest = sized
    .toSorted(([, one], [, two]) => total(two) - total(one))
    .slice(0, mostSlices);
  return { lines: largest.map(lineOf), left: sized.length - largest.length };
}

const total = (tallies: ReadonlyMap<number, Tally>): number =>
  [...tallies.values()].reduce((sum, { attempts }) => sum + attempts, 0);

function lineOf([label, tallies]: [string, ReadonlyMap<number, Tally>], colour: number): Line {
  const points = [...tallies].toSorted(([one], [two]) => one - two);
  const intervals = points.map(([, { successes, attempts }]) => wilson(successes, attempts));
  return {
    label,
    colour,
    dash: 0,
    xs: points.map(([iteration]) => iteration),
    ys: points.map(([, { successes, attempts }]) => (attempts === 0 ? null : successes / attempts)),
    low: intervals.map(([low]) => low),
    high: intervals.map(([, high]) => high),
  };
}

/** z of a 95 % interval. */
const z = 1.959963984540054;

/** The 95 % interval of a rate by Wilson (1927), as if attempts were independent; of none, everything. */
export function wilson(successes: number, attempts: number): readonly [number, number] {
  if (attempts === 0) return [0, 1];
  const rate = successes / attempts;
  const scale = 1 + z ** 2 / attempts;
  const middle = (rate + z ** 2 / (2 * attempts)) / scale;
  const half =
    (z * Math.sqrt((rate * (1 - rate)) / attempts + z ** 2 / (4 * attempts ** 2))) / scale;
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
