import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import * as agentRl from '#agent_rl/index.ts';
import * as plugin from '#agent_rl/plugin.ts';
import { errorCatalogue } from '#agent_rl/core/error-catalogue.ts';
import { outcomes } from '#agent_rl/core/outcome.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { journalColumns, journalTypes } from '#agent_rl/core/services/journal.ts';
import { keepLedger } from '#agent_rl/rollout/tokens/ledger.ts';
import { member } from '#tests/support/rollouts.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import { evaluationSummary, summaryOf } from '#agent_rl/runs/summary.ts';
import { metricNames } from '#agent_rl/telemetry/metric-names.ts';
import { noTotals } from '#agent_rl/trainer/iteration-report.ts';
import { entries } from '#scripts/docs/api-page.ts';
import { publicExports } from '#scripts/docs/public-exports.ts';
import { referencePages } from '#scripts/docs/reference-pages.ts';
import { plain, table } from '#scripts/docs/markdown.ts';
import { codeSpans, readDocument, tableBelow } from '#tests/support/markdown.ts';

const pages = referencePages();

test.each(Object.entries(pages))('docs/%s is current', (name, text) => {
  const file = `docs/${name}`;
  const stored = existsSync(join(packageRoot(), file)) ? readDocument(file) : '';
  if (stored !== text) throw new Error(`${file} is not what the code says. Run: npm run docs`);
});

describe('docs/reference/metrics-and-files.md', () => {
  const text = pages['reference/metrics-and-files.md'] ?? '';
  const spans = (heading: string): string[] =>
    tableBelow(text, heading).flatMap(([cell = '']) => codeSpans(cell));

  test('lists exactly the metrics, the outcomes and the buckets of the ledger', () => {
    expect(spans('## Metrics')).toEqual(Object.keys(metricNames));
    expect(spans('## Outcomes')).toEqual([...outcomes]);
    expect(spans('## Ledger')).toEqual(Object.keys(keepLedger([], 0).tokens));
  });

  test('lists every type of event and every column of the journal', () => {
    const [, section = ''] = /\n## Journal\n([^]*?)\n## /.exec(text) ?? [];
    const listed = codeSpans(section);
    const names = [...journalTypes, ...journalColumns];
    expect(names.filter((name) => !listed.includes(name))).toEqual([]);
  });

  test('lists every key of an episode', () => {
    const keys = Object.keys(episodeRecord(member()));
    const listed = spans('## Episodes');
    expect(keys.filter((key) => !listed.includes(key))).toEqual([]);
    // Written by environments.
    const others = listed.filter((key) => !keys.includes(key)).toSorted();
    expect(others).toEqual(['hidden_tests', 'search_history']);
  });

  test('lists every key of a summary and of its evaluations', () => {
    const result = { state: { iteration: 0, totals: noTotals }, interrupted: false };
    const facts = { usage: { memory: {}, generation: {} } };
    const keys = Object.keys(summaryOf(result as never, facts as never));
    // Added once the trackers of a run are closed.
    expect(spans('## Summary').toSorted()).toEqual([...keys, 'trackers'].toSorted());
    const inside = Object.keys(evaluationSummary({} as never));
    expect(inside.filter((key) => !codeSpans(text).includes(key))).toEqual([]);
  });
});

test('docs/reference/errors.md lists every code once', () => {
  const listed = (pages['reference/errors.md'] ?? '').matchAll(/^\| `([A-Z_]+)`/gm);
  const codes = [...listed].map(([, code]) => code);
  expect(codes).toEqual(Object.keys(errorCatalogue));
  expect(codes.length).toBeGreaterThan(10);
});

describe('docs/reference/api.md', () => {
  test.each([
    ['agent_rl', agentRl],
    ['agent_rl/plugin', plugin],
  ] as const)('lists every value of %s with a description', (name, values) => {
    const all = publicExports(entries[name]);
    const names = new Set(all.map((one) => one.name));
    expect(Object.keys(values).filter((value) => !names.has(value))).toEqual([]);
    expect(all.filter(({ doc }) => doc === '').map((one) => one.name)).toEqual([]);
  });
});

test('a cell of a table escapes the marks of Markdown', () => {
  expect(table(['A'], [[plain('a | <b> `<c> | d`')]])).toBe(
    '| A |\n| --- |\n| a \\| \\<b\\> `<c> \\| d` |',
  );
});
