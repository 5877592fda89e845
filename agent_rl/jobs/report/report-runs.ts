import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import { writeFileAtomic } from '../../telemetry/index.ts';
import type { JobContext, JobResult } from '../job.ts';
import { makeReport } from './make-report.ts';
import type { ReportFormat } from './report-formats.ts';
import { type ReportedRun, readReportedRun } from './read/reported-run.ts';
import { htmlReport } from './render/html-report.ts';
import { markdownReport } from './render/markdown-report.ts';
import { svgReport } from './render/svg-report.ts';
import { readControls } from './sections/controls.ts';
import { chartsOf, type Report } from './report.ts';

export interface ReportOptions extends Pick<JobContext, 'print'> {
  /** Folders of runs. */
  runs: readonly string[];
  format: ReportFormat;
  /** Where it goes: by default `report.html` in the run's folder, or beside the first of several. */
  out?: string;
  /** A `controls.json` of `npm run bench:controls`. */
  controls?: string;
  /** Names of the curves to draw; an empty list draws all. */
  curves?: readonly string[];
}

const written: Readonly<Record<ReportFormat, (report: Report) => string>> = {
  html: htmlReport,
  md: markdownReport,
  svg: (report) => svgReport({ title: report.title, charts: chartsOf(report) }),
};

/**
 * Writes what came of one run, or of several side by side, as one file.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` when there is no run, `DATASET_INVALID` for a line of it that cannot be read,
 * `CONFIG_INVALID` for invalid controls or curves or a run given twice, `OUTPUT_UNWRITABLE`
 */
export async function reportRuns(options: ReportOptions): Promise<JobResult> {
  const { format, curves = [], print } = options;
  refuseRepeated(options.runs);
  refuseFolder(options.out);
  const runs: ReportedRun[] = [];
  for (const run of options.runs) runs.push(await readReportedRun(run));
  const controls = options.controls === undefined ? undefined : readControls(options.controls);
  const file = resolve(options.out ?? usualFile(runs, format));
  writeFileAtomic(file, written[format](makeReport(runs, { controls, curves })));
  print(`Report: ${file}`);
  return { report: file };
}

function refuseRepeated(runs: readonly string[]): void {
  const paths = runs.map((run) => (existsSync(run) ? realpathSync(run) : resolve(run)));
  const again = runs.find((_, place) => paths.indexOf(paths[place] ?? '') < place);
  if (again === undefined) return;
  throw new AgentRlError('CONFIG_INVALID', `${again} is named twice. Name each run once.`);
}

function refuseFolder(out: string | undefined): void {
  if (out === undefined || !existsSync(out) || !statSync(out).isDirectory()) return;
  throw new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `--out ${out} is a folder. Give the file to write, such as ${join(out, 'report.html')}.`,
  );
}

function usualFile(runs: readonly ReportedRun[], format: ReportFormat): string {
  const path = runs[0]?.folder.path ?? '';
  return join(runs.length === 1 ? path : dirname(path), `report.${format}`);
}
