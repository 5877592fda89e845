import { expect, test } from '@jest/globals';

import { findingsText, headText } from '#agent_rl/jobs/explain/findings-text.ts';
import { Unreadable } from '#agent_rl/runs/episodes/read-lines.ts';
import { runChecks } from '#agent_rl/runs/signs/run-checks.ts';
import { evidenceOf } from '#tests/unit/agent_rl/runs/signs/evidence.ts';

const textOf = (sketch: Parameters<typeof evidenceOf>[0]): string[] => {
  const evidence = evidenceOf(sketch);
  const { length } = evidence.series.iterations;
  const recorded = { ...evidence, unreadable: new Unreadable() };
  return [headText(recorded, 'one'), findingsText(runChecks(evidence), 'runs/one', length)];
};

test('the findings of a healthy run say how many checks could not be measured', () => {
  const [, findings = ''] = textOf({});
  const notMeasured = findings.split('\n').filter((line) => line.startsWith('  not measured'));
  expect(notMeasured.length).toBeGreaterThan(0);
  expect(findings).toContain(
    ` keeps the run from learning; ${notMeasured.length} more could not be measured\n`,
  );
});

test('a run of one iteration is not split into quarters, and the text says how many a trend needs', () => {
  const [head, findings] = textOf({ iterations: 1 });
  expect(head).toMatch(/^Run one: 1 iteration; success [\d.]+ % at first, [\d.]+ % at last$/);
  expect(findings).toContain('. The run has 1 iteration so far; a trend needs 10');
});

test('a run without a summary gets no advice to evaluate', () => {
  const evidence = { ...evidenceOf({}), hasSummary: false };
  const found = runChecks(evidence).find(({ check }) => check === 'held-out');
  expect(found?.says).toBe('the run has no summary.json: it is still running, or it failed');
});
