import { expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';

import { curvesOf, plainLook } from '#agent_rl/runs/charts/curves.ts';
import { legendRows } from '#agent_rl/jobs/report/render/chart-markup.ts';
import { runCharts } from '#agent_rl/jobs/report/run-charts.ts';
import { readReportedRun } from '#agent_rl/jobs/report/read/reported-run.ts';
import { type Picture, svgReport } from '#agent_rl/jobs/report/render/svg-report.ts';
import { readDocument } from '#tests/support/markdown.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { writeRun } from '#tests/support/written-run.ts';

const folder = temporaryFolder();

test('a legend breaks where a row is full, and cuts long names', () => {
  const empty = { dash: 0, xs: [], ys: [] };
  const lines = ['a'.repeat(60), 'b', 'c'].map((label, colour) => ({ label, colour, ...empty }));
  const rows = legendRows({ title: 'X', unit: '', over: 'step', lines }, 400);
  const labels = rows.map((row) => row.map(({ label }) => label));
  expect(labels).toEqual([[`${'a'.repeat(44)}…`, 'b'], ['c']]);
});

test('the chart counts numbers that are not finite instead of drawing them', async () => {
  const run = writeRun(folder, 'diverged', {
    metrics: [1, Number.NaN, Infinity].map((value) => ({ 'rollout/rewardMean': value })),
  });
  const [chart] = runCharts([await readReportedRun(run)]);
  expect(chart?.lines[0]?.ys).toEqual([1, 'NaN', 'Infinity']);
  expect(chart && curvesOf(chart, plainLook).notes).toEqual([
    'diverged: 2 non-finite values omitted (NaN, Infinity)',
  ]);
});

test('svgReport redraws the picture in the README from its metadata', () => {
  const svg = readDocument('docs/images/workspace_grpo-seed1.svg');
  const { document } = parseHTML(svg);
  const picture = JSON.parse(document.querySelector('metadata')?.textContent ?? '') as Picture;
  expect(picture.charts.length).toBeGreaterThan(1);
  expect(svgReport(picture)).toBe(svg);
});
