/** A place of a curve; `y` is null where there is no number. Plain JSON. */
export interface Point {
  x: number;
  y: number | null;
  /** Ends of an interval. */
  low?: number;
  high?: number;
}

export interface Line {
  name: string;
  /** Which of the palette's colours, from 0. */
  colour: number;
  /** The second, third, … quantity of a run that has one colour. */
  dash: number;
  /** Larger dots, which are not joined where there are two. */
  measured: boolean;
  points: readonly Point[];
}

/** What a colour, or a dash, stands for. Plain JSON. */
export interface LegendItem extends Pick<Line, 'name' | 'dash' | 'measured'> {
  /** Absent of what has the same dash in all colours. */
  colour?: number;
}

/** Curves on the same axes. Plain JSON. */
export interface Chart {
  /** What it is called on the command line. */
  name: string;
  title: string;
  /** Of the vertical axis. */
  unit: string;
  /** Values are shares: the axis goes from 0 to 100 %. */
  share?: boolean;
  /** Of the horizontal axis. */
  over: string;
  lines: readonly Line[];
  /** Where it is not an item for each line. */
  legend?: readonly LegendItem[];
  /** What is to be known of them. */
  note?: string;
}

const mostPoints = 200;

/** A line of at most 200 points, each the mean of as many neighbours as it takes, and how many those are. */
export function thinned(points: readonly Point[]): { points: readonly Point[]; each: number } {
  const each = Math.ceil(points.length / mostPoints);
  if (each <= 1) return { points, each: 1 };
  const groups = Array.from({ length: Math.ceil(points.length / each) }, (_, group) =>
    points.slice(group * each, (group + 1) * each),
  );
  return { points: groups.map(meanPoint), each };
}

function meanPoint(group: readonly Point[]): Point {
  const known = group.flatMap(({ y }) => y ?? []);
  const sum = known.reduce((a, b) => a + b, 0);
  return { x: group.at(-1)?.x ?? 0, y: known.length === 0 ? null : sum / known.length };
}
