import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import * as agentRl from '#agent_rl/index.ts';
import { errorCatalogue } from '#agent_rl/core/error-catalogue.ts';
import { outcomes } from '#agent_rl/core/outcome.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { keepLedger } from '#agent_rl/rollout/tokens/ledger.ts';
import { trajectoryLine } from '#agent_rl/runs/episodes/trajectory-line.ts';
import { evaluationSummary, summaryOf } from '#agent_rl/runs/summary.ts';
import { metricNames } from '#agent_rl/telemetry/metric-names.ts';
import { noTotals } from '#agent_rl/trainer/iteration-report.ts';
import { publicExports } from '#scripts/docs/public-exports.ts';
import { referencePages } from '#scripts/docs/reference-pages.ts';
import { signatureAt } from '#scripts/docs/signature.ts';
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

  test('lists every metric', () => {
    expect(spans('## Metrics')).toEqual(Object.keys(metricNames));
  });

  test('lists every outcome and every bucket of the ledger, and no other', () => {
    expect(spans('## Outcomes')).toEqual([...outcomes]);
    expect(spans('## Ledger')).toEqual(Object.keys(keepLedger([], 0).tokens));
  });

  test('lists every key of a trajectory', () => {
    const keys = Object.keys(
      trajectoryLine('run', {
        calls: [],
        agent: 'a',
        slice: 's',
        learns: false,
        unpaid: {},
        answer: 'x',
      } as never),
    );
    const listed = spans('## Trajectories');
    expect(keys.filter((key) => !listed.includes(key))).toEqual([]);
    // Two are written beside them, two by environments.
    const others = listed.filter((key) => !keys.includes(key));
    expect(others.toSorted()).toEqual(['hidden_tests', 'iteration', 'search_history', 'when']);
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
  const codes = [...(pages['reference/errors.md'] ?? '').matchAll(/^\| `([A-Z_]+)`/gm)].map(
    ([, code]) => code,
  );
  expect(codes).toEqual(Object.keys(errorCatalogue));
  expect(codes.length).toBeGreaterThan(10);
});

describe('docs/reference/api.md', () => {
  test('has every public value', () => {
    const names = new Set(publicExports().map(({ name }) => name));
    const missing = Object.keys(agentRl).filter((name) => !names.has(name));
    expect(missing.toSorted()).toEqual(['Type']);
  });

  test.each([
    [
      'interface',
      'export interface Empty extends Other {}\nconst x = 1;',
      'interface Empty extends Other {}',
    ],
    [
      'interface',
      'export interface A {\n  b: { c: 1 };\n}\nmore',
      'interface A {\n  b: { c: 1 };\n}',
    ],
    ['type', "export type A = 'a;' | { b: 1; c: 2 };\nmore;", "type A = 'a;' | { b: 1; c: 2 };"],
    [
      'function',
      'export async function a({ b }: B): Promise<C> {\n  return 1;\n}',
      'async function a({ b }: B): Promise<C>',
    ],
    ['const', 'export const a = (b: () => C): D => e(b);', 'const a = (b: () => C): D'],
    ['const', 'export const a = [1, 2];', ''],
    [
      'class',
      'export class A extends B implements C {\n  d = 1;\n}',
      'class A extends B implements C',
    ],
  ])('shows how a %s is declared, without its code', (kind, text, expected) => {
    expect(signatureAt(text, kind)).toBe(expected);
  });
});

test('a cell of a table keeps marks of Markdown as they were written', () => {
  expect(table(['A'], [[plain('a | <b> `<c> | d`')]])).toBe(
    '| A |\n| --- |\n| a \\| \\<b\\> `<c> \\| d` |',
  );
});
