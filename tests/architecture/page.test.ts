import { describe, expect, test } from '@jest/globals';

import { importsOf, sourceFiles, type SourceFile } from '../support/source-files.ts';

const pageFolder = 'agent_rl/page/';
const files = sourceFiles(['agent_rl', 'dataset', 'model', 'scripts'], ['.ts', '.tsx']);
const ofPage = files.filter(({ path }) => path.startsWith(pageFolder));

/** What runs in the browser besides the page itself: libraries, and files of ours that need nothing of Node. */
const allowed = new Set([
  'preact',
  'preact/hooks',
  'd3-scale',
  'd3-shape',
  'agent_rl/algorithms/statistics.ts',
  'agent_rl/core/long-lists.ts',
  'agent_rl/core/message.ts',
  'agent_rl/core/unreachable.ts',
  'agent_rl/runs/charts/chart-lines.ts',
  'agent_rl/runs/charts/chart-specs.ts',
  'agent_rl/runs/charts/chart.ts',
  'agent_rl/runs/charts/curves.ts',
  'agent_rl/runs/charts/draw-chart.ts',
  'agent_rl/runs/charts/palette.ts',
  'agent_rl/runs/query/use-meanings.ts',
  'agent_rl/runs/view/api.ts',
  'agent_rl/runs/view/episode-api.ts',
  'agent_rl/runs/view/episodes/episode-query.ts',
  'agent_rl/runs/view/episodes/filter-episodes.ts',
  'agent_rl/runs/view/export-name.ts',
  'agent_rl/telemetry/figures.ts',
]);

const strangersOf = (file: SourceFile): readonly string[] =>
  importsOf(file).filter((target) => !target.startsWith(pageFolder) && !allowed.has(target));

/** Ways from a text to markup or code. */
const markup =
  /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|DOMParser|createContextualFragment|srcdoc|\beval\(|new Function|javascript:/;

describe('The page of agent-rl view', () => {
  test('imports only files that run in a browser, and no other file imports it', () => {
    expect(ofPage.length).toBeGreaterThan(40);
    expect(ofPage.flatMap(strangersOf)).toEqual([]);
    const others = files.filter(({ path }) => !path.startsWith(pageFolder));
    const importers = others.filter((file) =>
      importsOf(file).some((target) => target.startsWith(pageFolder)),
    );
    expect(importers.map(({ path }) => path)).toEqual([]);
  });

  test('shares with Node only files that import no others', () => {
    const shared = files.filter(({ path }) => allowed.has(path));
    expect(shared).toHaveLength(17);
    expect(shared.flatMap(importsOf).filter((target) => !allowed.has(target))).toEqual([]);
  });

  test('never turns a text into markup or code', () => {
    expect(ofPage.filter(({ text }) => markup.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test.each([
    'element.innerHTML = text;',
    '<div dangerouslySetInnerHTML={{ __html: text }} />',
    'frame.srcdoc = text;',
  ])('would be caught with %s', (planted) => {
    expect(planted).toMatch(markup);
  });

  test('would be caught with an import of Node', () => {
    const text = "import { join } from 'node:path';\nimport { a } from '../jobs/jobs.ts';";
    expect(strangersOf({ path: `${pageFolder}planted.ts`, text })).toEqual([
      'node:path',
      'agent_rl/jobs/jobs.ts',
    ]);
  });
});
