import { describe, expect, test } from '@jest/globals';

import { readRunPoints, type RunPoints, runPlot, scalesOf } from '#scripts/plot/run-plot.ts';
import { readDocument } from '#tests/support/markdown.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

const points: RunPoints = {
  title: 'a run',
  iterations: 2,
  reward: [0.25, 0.5],
  heldOut: [
    { iteration: 0, rate: 0, low: 0, high: 0.2 },
    { iteration: 2, rate: 1, low: 0.8, high: 1 },
  ],
};

describe('runPlot', () => {
  test('puts iteration 0 at the left end, the last at the right, 0 at the bottom and 1 at the top', () => {
    const { x, y } = scalesOf(points);
    expect([x(0), x(1), x(2)]).toEqual(['56', '378', '700']);
    expect([y(0), y(0.25), y(1)]).toEqual(['312', '248', '56']);
  });

  test('draws a line through the rewards and one through the evaluations', () => {
    const svg = runPlot(points);
    expect(svg).toContain('<polyline class="reward" points="378,248 700,184"/>');
    expect(svg).toContain('<polyline class="heldOut" points="56,312 700,56"/>');
    expect(svg).toContain('<line class="heldOut" x1="700" x2="700" y1="107.2" y2="56"/>');
  });
});

test('points of version 0.1 come from the metrics of the iterations and the summary of the run', () => {
  const lines = [
    { iteration: 1, 'rollout/rewardMean': 0.5 },
    {
      iteration: 2,
      'rollout/rewardMean': 0.6,
      'eval/successRate': 0.7,
      'eval/wilsonLow': 0.6,
      'eval/wilsonHigh': 0.8,
    },
    { iteration: 3, 'rollout/rewardMean': 0.8, 'eval/successRate': 0.9 },
  ];
  writeBelow(folder, 'metrics.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
  const evaluation = (successRate: number) => ({ successRate, wilson95: [0, 1] });
  const summary = { iterations: 3, eval: { before: evaluation(0.1), after: evaluation(0.95) } };
  writeBelow(folder, 'summary.json', JSON.stringify(summary));
  expect(readRunPoints(folder, 'x')).toEqual({
    title: 'x',
    iterations: 3,
    reward: [0.5, 0.6, 0.8],
    heldOut: [
      { iteration: 0, rate: 0.1, low: 0, high: 1 },
      { iteration: 2, rate: 0.7, low: 0.6, high: 0.8 },
      { iteration: 3, rate: 0.95, low: 0, high: 1 },
    ],
  });
});

test('intervals are by cluster bootstrap where all evaluations have them, and the picture names them', () => {
  const line = {
    iteration: 1,
    'rollout/rewardMean': 0.5,
    'eval/successRate': 0.5,
    'eval/wilsonLow': 0.4,
    'eval/wilsonHigh': 0.6,
  };
  const clustered = { ...line, 'eval/intervalLow': 0.2, 'eval/intervalHigh': 0.7 };
  const end = { successRate: 1, wilson95: [0.9, 1] };
  const both = { ...end, interval95: { low: 0.8, high: 1 } };
  const read = (metrics: object, before: object) => {
    writeBelow(folder, 'metrics.jsonl', JSON.stringify(metrics));
    const summary = { iterations: 2, eval: { before, after: both } };
    writeBelow(folder, 'summary.json', JSON.stringify(summary));
    return readRunPoints(folder, 'x');
  };
  const now = read(clustered, both);
  expect(now.heldOut.map(({ low, high }) => [low, high])).toEqual([
    [0.8, 1],
    [0.2, 0.7],
    [0.8, 1],
  ]);
  expect(runPlot(now)).toContain('held-out success, 95 % interval by cluster bootstrap<');
  for (const old of [read(line, both), read(clustered, { ...end, interval95: null })]) {
    expect(old.heldOut.map(({ low, high }) => [low, high])).toEqual([
      [0.9, 1],
      [0.4, 0.6],
      [0.9, 1],
    ]);
    expect(runPlot(old)).toContain('held-out success, Wilson 95 % interval<');
  }
});

test('the picture in the README is drawn from the points it holds', () => {
  const svg = readDocument('docs/images/workspace_grpo-seed1.svg');
  const [, metadata = ''] = /<metadata>(.*)<\/metadata>/.exec(svg) ?? [];
  expect(runPlot(JSON.parse(metadata) as RunPoints)).toBe(svg);
});
