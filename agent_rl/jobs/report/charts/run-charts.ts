import { AgentRlError } from '../../../core/errors.ts';
import { isSupervised, iterationsOf, type ReportedRun } from '../read/reported-run.ts';
import { type Chart, type Line, type Point, thinned } from './chart.ts';
import { type CurvePlan, curvePlans, heldOut, type Quantity } from './curves.ts';

/** Success on held-out tasks with its interval; iteration 0 is before the first update. */
export function heldOutPoints(run: ReportedRun): Point[] {
  const { before, after } = run.summary?.eval ?? {};
  const ends = [
    { x: 0, evaluation: before },
    { x: iterationsOf(run), evaluation: after },
  ].flatMap(({ x, evaluation }): Point[] => {
    if (!evaluation || evaluation.successRate === null) return [];
    const { successRate: y, interval95 } = evaluation;
    return [{ x, y, ...(interval95 && { low: interval95.low, high: interval95.high }) }];
  });
  const between = run.metrics.flatMap(({ iteration: x, metrics }): Point[] => {
    const y = metrics['eval/successRate'];
    // The evaluation after training stands in its iteration's line too.
    if (y === undefined || ends.some((end) => end.x === x)) return [];
    const low = metrics['eval/intervalLow'];
    const high = metrics['eval/intervalHigh'];
    return [{ x, y, ...(low !== undefined && high !== undefined && { low, high }) }];
  });
  return [...ends, ...between].toSorted((a, b) => a.x - b.x);
}

/**
 * The curves of runs over their iterations, those of several over each other; none that no run measured.
 *
 * @param names of the curves to draw; all where there are none
 * @throws AgentRlError `CONFIG_INVALID` for a name that is none, or that no run measured
 */
export function runCharts(runs: readonly ReportedRun[], names: readonly string[] = []): Chart[] {
  const known = curvePlans.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `No curve is named ${unknown.map((name) => JSON.stringify(name)).join(', ')}. Known: ${known.join(', ')}.`,
    );
  const charts = curvePlans.flatMap((plan) => chartOf(runs, plan));
  const drawn = charts.filter(({ name }) => names.length === 0 || names.includes(name));
  const unmeasured = names.filter((name) => !charts.some((chart) => chart.name === name));
  if (unmeasured.length > 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--curves ${unmeasured.join(', ')}: no run of this report measured that. They have: ${charts.map(({ name }) => name).join(', ') || 'no curve yet'}.`,
    );
  return drawn;
}

/** None where no run measured it. */
function chartOf(runs: readonly ReportedRun[], plan: CurvePlan): Chart[] {
  const quantities = quantitiesOf(runs, plan);
  const curves = runs.flatMap((run, place) =>
    isOfMode(run, plan) ? curvesOf(run, { name: plan.name, quantities }, place) : [],
  );
  if (curves.length === 0) return [];
  const drawn = runs.filter((_, place) => curves.some((curve) => curve.place === place));
  const notes = [...new Set(curves.flatMap((curve) => curve.notes))];
  const { name, title, unit, share } = plan;
  return [
    {
      name,
      title,
      unit,
      ...(share !== undefined && { share }),
      over: drawn.every(isSupervised) ? 'step' : 'iteration',
      ...(runs.length === 1 ? { lines: curves.map(coloured) } : overlaid(curves, runs)),
      ...(notes.length > 0 && { note: notes.join(' ') }),
    },
  ];
}

const isOfMode = (run: ReportedRun, { mode }: CurvePlan): boolean =>
  mode === undefined || (mode === 'sft') === isSupervised(run);

/** The same of all runs, so that a quantity has one look. */
function quantitiesOf(
  runs: readonly ReportedRun[],
  { quantities }: CurvePlan,
): readonly Quantity[] {
  if (typeof quantities !== 'function') return quantities;
  const names = runs.flatMap((run) => run.metrics.flatMap(({ metrics }) => Object.keys(metrics)));
  return quantities([...new Set(names)]);
}

/** A quantity of a run, before it has a colour. */
interface Curve extends Pick<Line, 'points' | 'measured'> {
  /** Of the run among those of the report. */
  place: number;
  quantity: string;
  /** Of the quantity among those on the same axes. */
  at: number;
  notes: readonly string[];
}

/** Of a single run each quantity has a colour. */
const coloured = ({ quantity, at, points, measured }: Curve): Line => ({
  name: quantity,
  colour: at,
  dash: 0,
  measured,
  points,
});

/** Of several runs each run has a colour, and each quantity a dash. */
function overlaid(
  curves: readonly Curve[],
  runs: readonly ReportedRun[],
): Pick<Chart, 'lines' | 'legend'> {
  const nameOf = (place: number): string => runs[place]?.folder.name ?? '';
  const lines = curves.map(({ place, quantity, at, points, measured }) => ({
    name: `${nameOf(place)}, ${quantity}`,
    colour: place,
    dash: at,
    measured,
    points,
  }));
  const places = [...new Set(curves.map(({ place }) => place))];
  const quantities = [...new Map(curves.map((curve) => [curve.quantity, curve])).values()];
  const dashes = quantities.map(({ quantity: name, at: dash, measured }) => ({
    name,
    dash,
    measured,
  }));
  return {
    lines,
    legend: [
      ...places.map((place) => ({
        name: nameOf(place),
        colour: place,
        dash: 0,
        measured: false,
      })),
      ...(dashes.length > 1 ? dashes : []),
    ],
  };
}

interface Drawn {
  name: string;
  quantities: readonly Quantity[];
}

function curvesOf(run: ReportedRun, { name, quantities }: Drawn, place: number): Curve[] {
  const points = name === 'success' ? heldOutPoints(run) : [];
  const evaluated: Curve = {
    place,
    quantity: heldOut,
    at: 0,
    measured: true,
    points,
    notes: [],
  };
  const first = name === 'success' ? 1 : 0;
  const drawn = quantities.flatMap(({ name: quantity, of }, number): Curve[] => {
    const values = valuesOf(run, of);
    return values === undefined
      ? []
      : [{ place, quantity, at: first + number, measured: false, ...values }];
  });
  return points.length === 0 ? drawn : [evaluated, ...drawn];
}

/** `undefined` where it was never measured. */
function valuesOf(
  { metrics }: ReportedRun,
  of: Quantity['of'],
): Pick<Curve, 'points' | 'notes'> | undefined {
  const values = metrics.map(({ iteration, metrics: numbers }) => ({
    x: iteration,
    value: of(numbers),
  }));
  if (values.every(({ value }) => value === undefined)) return undefined;
  const infinite = values.filter(({ value }) => value !== undefined && !Number.isFinite(value));
  const { points, each } = thinned(
    values.map(({ x, value }) => ({
      x,
      y: value === undefined || !Number.isFinite(value) ? null : value,
    })),
  );
  const notes = [
    ...(each > 1 ? [`Each point is the mean of ${each} neighbours.`] : []),
    ...(infinite.length > 0
      ? [`${infinite.length} values are no finite numbers and not drawn.`]
      : []),
  ];
  return { points, notes };
}
