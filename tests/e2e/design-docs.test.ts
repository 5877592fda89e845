import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { evaluationSummary, summaryOf } from '#agent_rl/runs/summary.ts';
import { settingsOfRuns } from '#agent_rl/config/settings-of.ts';
import { outcomes } from '#agent_rl/core/outcome.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { keepLedger } from '#agent_rl/rollout/tokens/ledger.ts';
import { ChunkingSettings } from '#agent_rl/search/corpus/settings.ts';
import { WebSearchSettings } from '#agent_rl/search/web/index.ts';
import { noTotals } from '#agent_rl/trainer/iteration-report.ts';
import { codeSpans, markdownFiles, readDocument, tableBelow } from '../support/markdown.ts';

const propertiesOf = (schema: unknown): object => (schema as { properties: object }).properties;

const root = packageRoot();

test("the reference lists every key of a run's summary", () => {
  const result = { state: { iteration: 0, totals: noTotals }, interrupted: false };
  const facts = { usage: { memory: {}, generation: {} } };
  const keys = Object.keys(summaryOf(result as never, facts as never)).filter(
    (key) => key !== 'eval',
  );
  const inside = Object.keys(evaluationSummary({} as never));
  const listed = codeSpans(readDocument('docs/reference/metrics-and-files.md'));
  expect([...keys, ...inside].filter((key) => !listed.includes(key))).toEqual([]);
});

describe('The design documents', () => {
  const design = readDocument('design.md');

  test('the pages explain every outcome and every bucket of the ledger', () => {
    const rows = tableBelow(design, '### Outcomes').flatMap(([name = '']) => codeSpans(name));
    expect(rows.toSorted()).toEqual(outcomes.toSorted());
    const fates = Object.keys(keepLedger([], 0).tokens);
    expect(fates.filter((fate) => !codeSpans(design).includes(fate))).toEqual([]);
  });

  test('the page on earlier systems maps their settings to existing ones', () => {
    const known = settingsOfRuns().map(({ path }) => path);
    const plugins = builtinPlugins();
    const ofPart = (block: string, { spec }: { spec: { settings?: unknown } }): string[] =>
      Object.keys(propertiesOf(spec.settings)).map((name) => `${block}.${name}`);
    const ofPlugins = [
      ...ofPart('environment', plugins.environments.get('code_exec')),
      ...ofPart('policy', plugins.policies.get('minimind')),
      ...ofPart('algorithm.advantage', plugins.advantages.get('group-relative')),
      ...ofPart('algorithm.loss', plugins.losses.get('clipped')),
      ...ofPart('web', { spec: { settings: WebSearchSettings } }),
      ...ofPart('chunking', { spec: { settings: ChunkingSettings } }),
    ];
    const earlier = readDocument('docs/design/earlier-systems.md');
    const headings = [...earlier.matchAll(/^## .*$/gm)].map(([line]) => line);
    const rows = headings.flatMap((heading) => tableBelow(earlier, heading));
    const ours = rows.flatMap(([, cell = '']) => codeSpans(cell));
    const named = ours.filter((span) => /^[a-z]+(?:\[\])?\.[\w.]+$/.test(span));
    expect(headings).toHaveLength(4);
    expect(
      named.filter(
        (name) => ![...known, ...ofPlugins].includes(name) && !existsSync(join(root, name)),
      ),
    ).toEqual([]);
  });

  test.each([
    'design.md',
    'AGENTS.md',
    ...markdownFiles().filter((path) => path.startsWith('docs/design/')),
  ])('the page %s names existing files', (page) => {
    const named = codeSpans(readDocument(page)).filter((span) =>
      /^(?:[\w-]+\/)+[\w.-]+\.(?:tsx?|mjs|py|md|yaml|json)$|^tests\/[\w/-]+$/.test(span),
    );
    const missing = named.filter((file) =>
      ['agent_rl', '.'].every((top) => !existsSync(join(root, top, file))),
    );
    expect(missing).toEqual([]);
  });

  test('the dependencies page has a row for every dependency', () => {
    const ours = JSON.parse(readDocument('package.json')) as Record<string, object>;
    const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies'];
    const rows = tableBelow(readDocument('docs/design/dependencies.md'), '# Dependencies').flatMap(
      ([name = '']) => codeSpans(name),
    );
    expect(rows.toSorted()).toEqual(
      kinds.flatMap((kind) => Object.keys(ours[kind] ?? {})).toSorted(),
    );
  });
});
