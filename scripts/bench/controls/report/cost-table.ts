import { table } from '../../../docs/markdown.ts';
import { type ControlName, controlNames, controlTitles } from '../control.ts';
import type { SeedControls } from '../controls-of-seed.ts';
import { secondsText } from './cells.ts';

type Cell = (result: SeedControls) => string;

const ofTheRun: readonly (readonly [string, Cell])[] = [
  ['The run, including evaluations', ({ trained }) => secondsText(trained?.cpuSeconds)],
  ['The run, training only', ({ trained }) => secondsText(trained?.trainingCpuSeconds)],
];

/** Processor seconds of the run and of every training, and of its teacher; empty if nothing was trained. */
export function costTable(results: readonly SeedControls[]): string[] {
  const rows: (readonly [string, Cell])[] = [
    ...(results.some(({ trained }) => trained !== null) ? ofTheRun : []),
    ...controlNames.flatMap((name) => costRows(name, results)),
  ];
  if (rows.length === 0) return [];
  const costs = table(
    ['Processor seconds', ...results.map(({ seed }) => `seed ${seed}`)],
    rows.map(([title, cell]) => [title].concat(results.map(cell))),
  );
  return [costs];
}

function costRows(
  name: ControlName,
  results: readonly SeedControls[],
): (readonly [string, Cell])[] {
  const title = controlTitles[name];
  const has = (key: 'cpuSeconds' | 'teachingCpuSeconds'): boolean =>
    results.some(({ controls }) => controls[name]?.[key] !== undefined);
  const trained: readonly [string, Cell] = [
    title,
    ({ controls }) => secondsText(controls[name]?.cpuSeconds),
  ];
  const teaching: readonly [string, Cell] = [
    `${title}: making its conversations, in addition`,
    ({ controls }) => {
      const { teachingCpuSeconds, conversations } = controls[name] ?? {};
      return conversations === undefined
        ? '-'
        : `${secondsText(teachingCpuSeconds)} for ${conversations}`;
    },
  ];
  return [
    ...(has('cpuSeconds') ? [trained] : []),
    ...(has('teachingCpuSeconds') ? [teaching] : []),
  ];
}
