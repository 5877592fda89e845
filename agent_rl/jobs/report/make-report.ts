import { isRecord } from '../../core/is-record.ts';
import { countText } from '../../telemetry/figures.ts';
import type { Chart } from '../../runs/charts/chart.ts';
import { runCharts } from './run-charts.ts';
import { iterationsOf, type ReportedRun } from './read/reported-run.ts';
import type { Report, Section } from './report.ts';
import { type Controls, controlsSection } from './sections/controls.ts';
import { costsSection } from './sections/costs.ts';
import { countsSection } from './sections/counts.ts';
import { originSection } from './sections/origin.ts';
import { leadOf } from './sections/lead.ts';
import { resultSection } from './sections/result.ts';
import { transcriptSections } from './sections/transcripts.ts';
import { warningsSection } from './sections/warnings.ts';

/** What a report has besides its runs. */
export interface ReportExtras {
  controls?: Controls | undefined;
  /** Names of the curves to draw; an empty list draws all. */
  curves?: readonly string[];
}

/**
 * All that is said of one run, or of several side by side.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a curve that there is not
 */
export function makeReport(
  runs: readonly ReportedRun[],
  { controls, curves }: ReportExtras = {},
): Report {
  const supervised = runs.every((run) => run.isSupervised);
  return {
    title: titleOf(runs),
    lead: [aboutOf(runs), ...leadOf(runs)],
    sections: [
      ...resultSection(runs),
      ...(supervised && controls === undefined ? [] : [controlsSection(runs, controls)]),
      ...curvesSection(runCharts(runs, curves)),
      ...transcriptSections(runs),
      ...countsSection(runs),
      ...costsSection(runs),
      originSection(runs),
      warningsSection(runs),
    ],
  };
}

const titleOf = (runs: readonly ReportedRun[]): string => {
  const names = runs.map(({ folder }) => folder.name).join(', ');
  return runs.length === 1 ? names : `${runs.length} runs: ${names}`;
};

/** What was trained: `grpo in workspace, 24 iterations, seed 42`. */
function aboutOf(runs: readonly ReportedRun[]): string {
  const about = runs.map((run) => {
    const done = iterationsOf(run);
    const way = run.isSupervised
      ? `Supervised training, ${countText(done, 'step')}`
      : `${String(run.settings.at('algorithm.name'))} in ${environmentOf(run)}, ${countText(done, 'iteration')}`;
    return { way, seed: String(run.settings.at('run.seed')) };
  });
  const ways = [...new Set(about.map(({ way }) => way))].join('; ');
  const seeds = about.map(({ seed }) => seed);
  return `${ways}, seed${seeds.length > 1 ? 's' : ''} ${seeds.join(', ')}.`;
}

function environmentOf(run: ReportedRun): string {
  const blocks = [run.settings.at('environment')].flat();
  const types = blocks.map((block) => (isRecord(block) ? String(block['type']) : 'no environment'));
  return types.join(' and ');
}

const curvesSection = (charts: readonly Chart[]): Section[] =>
  charts.length === 0 ? [] : [{ title: 'Curves', blocks: [{ kind: 'curves', charts }] }];
