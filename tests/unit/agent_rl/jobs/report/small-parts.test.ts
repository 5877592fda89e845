import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';

import { leaveReport } from '#agent_rl/jobs/report/leave-report.ts';
import { readLogExcerpt } from '#agent_rl/jobs/report/read/log-excerpt.ts';
import { readReportedRun } from '#agent_rl/jobs/report/read/reported-run.ts';
import { legendRows } from '#agent_rl/jobs/report/render/chart-markup.ts';
import { type Picture, svgReport } from '#agent_rl/jobs/report/render/svg-report.ts';
import { runCharts } from '#agent_rl/jobs/report/run-charts.ts';
import { curvesOf, plainLook } from '#agent_rl/runs/charts/curves.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { readDocument } from '#tests/support/markdown.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { writeRun } from '#tests/support/written-run.ts';

const folder = temporaryFolder();

test('a legend breaks where a row is full, and cuts long names', () => {
  const lines = ['a'.repeat(60), 'b', 'c'].map((label, colour) => {
    return { label, colour, dash: 0, xs: [], ys: [] };
  });
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

const run = runFolderAt(join(folder, 'run'));
const printed: string[] = [];
const print = (text: string): void => void printed.push(text);

beforeEach(() => {
  printed.length = 0;
  rmSync(run.path, { recursive: true, force: true });
  writeRun(folder, 'run', {});
});

describe('The report at the end of a session', () => {
  test('is written and is among its results', async () => {
    writeBelow(run.path, 'run.log', '2026-11-26T01:18:23.143Z warn the last line\n');
    expect(await leaveReport(run, print)).toEqual({ report: run.report });
    expect(printed).toEqual([`Report: ${run.report}`]);
    expect(readFileSync(run.report, 'utf8')).toContain('warn: the last line');
  });

  test('is a warning where it cannot be written', async () => {
    mkdirSync(run.report);
    expect(await leaveReport(run, print)).toEqual({});
    expect(printed).toEqual([
      expect.stringMatching(/^Warning: the report could not be written: .*html is a folder/),
    ]);
  });
});

test('keeps the newest problems of a long log and counts the older ones', async () => {
  const lines = Array.from({ length: 30 }, (_, index) => {
    return `2026-11-26T01:18:${10 + index}.000Z ${index === 29 ? 'error' : 'warn'} no ${index}`;
  });
  const file = writeBelow(folder, 'long.log', lines.join('\n'));
  const { problems, ...rest } = await readLogExcerpt(file);
  expect(problems).toHaveLength(20);
  expect([problems[0], problems.at(-1)]).toEqual(['warn: no 10', 'error: no 29']);
  const day = '2026-11-26T01:18';
  expect(rest).toMatchObject({ older: 10, began: `${day}:10.000Z`, ended: `${day}:39.000Z` });
});
