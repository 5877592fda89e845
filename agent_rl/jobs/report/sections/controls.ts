import { rateText } from '../../../runs/evaluation-table.ts';
import type { Controls } from '../read/read-controls.ts';
import type { ReportedRun } from '../read/reported-run.ts';
import { type Section, table, text } from '../report.ts';

const noControls =
  'No controls were run, or none were given to this report (--controls FILE): the rise is not compared with more supervised training, rejection sampling, shuffled rewards or a table without a model. "npm run bench:controls" in a checkout runs them.';

const titleOf = (name: string): string => {
  const words = name.replaceAll('-', ' ');
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
};

const cellOf =
  (name: string) =>
  ({ controls }: Controls['seeds'][number]): string => {
    const result = controls[name];
    return result === undefined || result === null ? 'not run' : rateText(result.after);
  };

/** How controls did on the same held-out tasks, or that there were none. */
export function controlsSection(runs: readonly ReportedRun[], controls?: Controls): Section {
  const title = 'Controls';
  if (controls === undefined) return { title, blocks: [text(noControls)] };
  const names = [...new Set(controls.seeds.flatMap((one) => Object.keys(one.controls)))];
  const rows = names.map((name) => [titleOf(name)].concat(controls.seeds.map(cellOf(name))));
  const head = [
    'Held-out success, slices left out',
    ...controls.seeds.map(({ seed }) => `seed ${seed}`),
  ];
  const seeds = new Set(runs.map((run) => run.settings.at('run.seed')));
  const others = controls.seeds.filter(({ seed }) => !seeds.has(seed)).map(({ seed }) => seed);
  const notes = [
    `Controls of ${controls.config}, each evaluated by itself.`,
    ...(others.length > 0 ? [`No run of this report has seed ${others.join(', ')}.`] : []),
  ];
  return { title, blocks: [...table(head, rows), text(notes.join(' '))] };
}
