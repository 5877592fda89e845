import type { ReportedRun } from '../read/reported-run.ts';
import { type Block, type Section, text, cutText } from '../report.ts';
import { counted } from './by-run.ts';

const mostCharacters = 1000;

/** Warnings and errors of the runs, also warnings of the summary that the log does not have too. */
export function warningsSection(runs: readonly ReportedRun[]): Section {
  const blocks = runs.flatMap((run) => blocksOf(run, runs.length > 1));
  const title = 'Warnings and errors';
  return {
    title,
    blocks: blocks.length > 0 ? blocks : [text('The run logged no warnings or errors.')],
  };
}

function blocksOf({ folder, log, summary }: ReportedRun, named: boolean): Block[] {
  const { problems, older } = log;
  const unlogged = (summary?.warnings ?? []).filter(
    (warning) => !problems.some((problem) => problem.includes(warning)),
  );
  const lines = [...unlogged.map((warning) => `warn: ${warning}`), ...problems];
  if (lines.length === 0) return [];
  return [
    ...(named ? [text(`${folder.name}:`)] : []),
    ...(older > 0 ? [text(`${counted(older)} older entries are in run.log.`)] : []),
    { kind: 'lines', lines: lines.map((line) => cutText(line, mostCharacters)) },
  ];
}
