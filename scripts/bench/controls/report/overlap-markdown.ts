import { table } from '../../../docs/markdown.ts';
import type { Overlap } from '../tasks/overlap.ts';
import type { OverlapBySlice, TaskOverlap } from '../tasks/task-overlap.ts';

const columns: readonly (readonly [keyof Overlap, string])[] = [
  ['prompt', 'prompt'],
  ['promptUpToNames', 'prompt up to names'],
  ['world', 'world'],
  ['family', 'forms in order'],
  ['forms', 'all forms'],
  ['pairs', 'all pairs of forms'],
  ['answer', 'answer'],
];

const share = (value: number | null): string => (value === null ? '-' : (100 * value).toFixed(1));

const rowsOf = (name: string, slices: OverlapBySlice): string[][] =>
  Object.entries(slices).map(([slice, found]) =>
    [`${slice}, in ${name}`, String(found.tasks)].concat(columns.map(([key]) => share(found[key]))),
  );

/** Shares of the evaluation's tasks that have something in common with training and warm-up. */
export const overlapMarkdown = ({ training, warmUp }: TaskOverlap): string =>
  table(
    ['Seen, % of tasks', 'n', ...columns.map(([, title]) => title)],
    [...rowsOf('training', training), ...(warmUp === null ? [] : rowsOf('warm-up', warmUp))],
  );
