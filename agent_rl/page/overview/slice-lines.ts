import { wilson95 } from '../../algorithms/statistics.ts';
import type { TaskRow } from '../../runs/view/api.ts';
import type { Line } from '../../runs/charts/chart.ts';

/** One for each colour. */
const mostSlices = 8;

interface Tally {
  attempts: number;
  successes: number;
}

/** Success of training episodes by slice and iteration with Wilson intervals, for the slices with the most attempts. */
export function sliceLines(tasks: readonly TaskRow[]): { lines: Line[]; left: number } {
  const slices = new Map<string, Map<number, Tally>>();
  for (const { slice, byIteration } of tasks) {
    if (slice === null) continue;
    const tallies = slices.get(slice) ?? new Map<number, Tally>();
    slices.set(slice, tallies);
    for (const { iteration, when, attempts, successes } of byIteration) {
      if (when !== 'train') continue;
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
  const intervals = points.map(([, { successes, attempts }]) => wilson95(successes, attempts));
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
