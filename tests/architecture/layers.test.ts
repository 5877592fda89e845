import { posix } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { kindNames, kindOf, placeText } from '#agent_rl/compose/plugins/kinds.ts';
import { readDocument } from '../support/markdown.ts';
import { importCircles } from '../support/import-circles.ts';
import { importsOf, sourceFiles, type SourceFile } from '../support/source-files.ts';

/** Lowest first. A folder may import itself and lower rows, never a neighbour of its own row. */
const layers = [
  ['agent_rl/core'],
  ['agent_rl/engine', 'agent_rl/threads', 'agent_rl/config', 'agent_rl/telemetry', 'agent_rl/http'],
  [
    'agent_rl/rollout',
    'agent_rl/search',
    'agent_rl/algorithms',
    'agent_rl/sandbox',
    'agent_rl/tinker',
    'model',
  ],
  [
    'agent_rl/learner',
    'agent_rl/generation',
    'agent_rl/environments',
    'agent_rl/rewards',
    'agent_rl/trackers',
    'dataset',
  ],
  ['agent_rl/engine-thread', 'agent_rl/policies', 'agent_rl/trainer', 'agent_rl/tools'],
  ['agent_rl/runs', 'agent_rl/gateway'],
  ['agent_rl/compose', 'agent_rl/page'],
  ['agent_rl/jobs'],
  ['agent_rl/index.ts', 'agent_rl/plugin.ts', 'agent_rl/ai-sdk.ts'],
  ['agent_rl/cli'],
  ['scripts'],
];

const folders = layers.flat();
const rank = (folder: string) => layers.findIndex((layer) => layer.includes(folder));
const folderOf = (path: string) =>
  folders.find((folder) => path === folder || path.startsWith(`${folder}/`));

/** Imports of one file that break the rows, as sentences. */
function brokenRows(file: SourceFile): readonly string[] {
  const from = folderOf(file.path);
  if (from === undefined) return [`${file.path} belongs to no row`];
  return importsOf(file)
    .map((target) => ({ target, to: folderOf(target) }))
    .filter(({ to }) => to !== undefined && to !== from && rank(to) >= rank(from))
    .map(({ target }) => `${file.path} imports ${target}`);
}

/** Imports of one file that leave the source, as sentences. `#…` resolves in a checkout only. */
const leavingSource = (file: SourceFile) =>
  importsOf(file)
    .filter((target) => /^(\.{0,2}\/|#)/.test(target) || target.startsWith('tests/'))
    .map((target) => `${file.path} imports ${target}`);

const rooms = ['agent_rl', 'dataset', 'model', 'scripts'];
const files = sourceFiles(rooms, ['.ts', '.tsx']);
const pathsOf = (found: readonly SourceFile[]) => found.map(({ path }) => path);
const numerical = /^(@tensorflow\/|onnxruntime|onnx-proto)/;

describe('The layers', () => {
  test('match the rows of design.md', () => {
    const lines = readDocument('design.md').match(/^\| \d+ +\|.*$/gm) ?? [];
    const named = lines.map((line) => line.match(/(?<=`)[\w./-]+(?=`)/g) ?? []);
    const sorted = (rows: string[][]) => rows.map((row) => row.toSorted());
    expect(sorted(named.toReversed())).toEqual(sorted(layers));
  });

  test('import only from lower ones', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(files.flatMap(brokenRows)).toEqual([]);
  });

  test('import nothing from outside the sources', () => {
    expect(files.flatMap(leavingSource)).toEqual([]);
  });

  test('use numerical libraries only in the engine', () => {
    const others = files
      .filter(({ path }) => !/^agent_rl\/engine\/|^scripts\/build-bundles\.ts$/.test(path))
      .filter((file) => importsOf(file).some((target) => numerical.test(target)));
    expect(pathsOf(others)).toEqual([]);
  });

  test('make containers only in compose', () => {
    const others = files
      .filter(({ path }) => !path.startsWith('agent_rl/compose/'))
      .filter(({ text }) => /\bnew Container\b/.test(text));
    expect(pathsOf(others)).toEqual([]);
  });

  test('resolve a run in one place', () => {
    const among = files.filter(({ path }) => /^agent_rl\/(compose|jobs\/)/.test(path));
    const callers = (name: string) =>
      pathsOf(among.filter(({ text }) => new RegExp(`(?<!function )\\b${name}\\(`).test(text)));
    expect(callers('choosePlugins')).toEqual(['agent_rl/compose/prepare-run.ts']);
    expect(callers('describeLayers')).toEqual(['agent_rl/compose/model/resolve-model.ts']);
    expect(callers('readTaskSets')).toEqual(['agent_rl/compose/resolve-tasks.ts']);
    expect(callers('openToolCallFormat')).toEqual([
      'agent_rl/compose/resolve-run.ts',
      // Continues token files with a model alone, without a run.
      'agent_rl/jobs/token-files/generate.ts',
    ]);
  });

  test.each([
    ["import { x } from '../compose/container.ts';", 'upward'],
    ["import '../config/index.ts';", 'to a neighbour'],
    ["const x = await import('../cli/main.ts');", 'upward and late'],
    ["export * from '../../scripts/agent-rl.ts';", 'upward, as an export'],
    ["new Worker(new URL('../rollout/worker.ts', import.meta.url));", 'upward, as a worker'],
  ])('report a planted import: %s (%s)', (text) => {
    expect(brokenRows({ path: 'agent_rl/telemetry/planted.ts', text })).toHaveLength(1);
  });

  test('allow downward imports, own files, packages and examples in comments', () => {
    const text = `
      /** @example import { run } from '../compose/container.ts' */
      import { a } from '../core/errors.ts';
      import { b } from './writer.ts';
      import winston from 'winston'; // from '../cli/main.ts'
    `;
    expect(brokenRows({ path: 'agent_rl/telemetry/planted.ts', text })).toEqual([]);
    expect(leavingSource({ path: 'agent_rl/telemetry/planted.ts', text })).toEqual([]);
  });

  test('report a source file that imports through the names for tests', () => {
    const text = "import { a } from '#agent_rl/core/errors.ts';";
    expect(leavingSource({ path: 'agent_rl/telemetry/planted.ts', text })).toHaveLength(1);
  });
});

describe('Circular imports', () => {
  test('never occur, type imports included', () => {
    expect(importCircles(files)).toEqual([]);
  });

  test('exclude files that only lead into them', () => {
    const planted = [
      { path: 'model/a.ts', text: "import type { B } from './b.ts';" },
      { path: 'model/b.ts', text: "export { c } from './inner/c.ts';" },
      { path: 'model/inner/c.ts', text: "const { a } = await import('../a.ts');" },
      { path: 'model/outside.ts', text: "import './a.ts';\nimport './other.ts';" },
      { path: 'model/other.ts', text: "import { join } from 'node:path';" },
    ];
    expect(importCircles(planted)).toEqual([['model/a.ts', 'model/b.ts', 'model/inner/c.ts']]);
  });
});

describe('The sources', () => {
  const sources = sourceFiles(rooms, ['.ts', '.tsx', '.py']);

  test('put at most 15 files in a folder', () => {
    const counts = new Map<string, number>();
    for (const { path } of sources) {
      const folder = posix.dirname(path);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > 15)).toEqual([]);
  });

  test('put at most 400 lines in a file', () => {
    const lengths = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > 400)).toEqual([]);
  });
});

/** Files that name a kind of plugin, without its own plugins and the pages that explain other systems' settings. */
const naming = (name: RegExp, own: RegExp): string[] =>
  pathsOf(sourceFiles(rooms).filter(({ path, text }) => name.test(text) && !own.test(path))).filter(
    (path) => path !== 'agent_rl/config/earlier-systems.ts',
  );

describe('A kind of plugin', () => {
  test('is named in at most 8 files', () => {
    const named = naming(/rewardManager|RewardManager/, /^agent_rl\/rewards\//);
    expect(named).toContain('agent_rl/compose/plugins/kinds.ts');
    expect(named.length).toBeLessThanOrEqual(8);
  });

  test.each([
    ['tools', 'tools: [{type: NAME}]'],
    ['environments', 'environment: {type: NAME}'],
    ['toolCallFormats', 'policy: {toolCallFormat: NAME}'],
    ['advantages', 'algorithm: {advantage: {type: NAME}}'],
    ['taskGenerators', 'datasets: [{generator: {type: NAME}}]'],
  ] as const)('has a place in the run file: %s in %s', (name, place) => {
    expect(placeText(kindOf(name))).toBe(place);
  });

  test('has a unique name, key and place', () => {
    const rows = kindNames.map(kindOf);
    const kinds = rows.map(({ kind }) => kind.kind);
    const [chosen, places] = [rows.map((row) => row.chosen), rows.map(({ at }) => at)];
    for (const values of [kinds, chosen, places, rows.map(({ title }) => title)])
      expect(new Set(values).size).toBe(rows.length);
  });
});

test('no code uses AbortSignal.any, whose signals a long-lived signal keeps forever on Node 20', () => {
  // Here all signals end with their request.
  const allowed = new Set(['agent_rl/jobs/serve/serve-model.ts']);
  const found = sourceFiles(rooms).filter(({ text }) => text.includes('AbortSignal.any('));
  const made = pathsOf(found).filter((path) => !allowed.has(path));
  // Use underSignals or follow of core/stopping/abort.ts.
  expect(made).toEqual([]);
});

const pageFolder = 'agent_rl/page/';
const ofPage = files.filter(({ path }) => path.startsWith(pageFolder));

/** What runs in the browser besides the page itself: libraries, and files of ours that need nothing of Node. */
const inBrowser = new Set([
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
  importsOf(file).filter((target) => !target.startsWith(pageFolder) && !inBrowser.has(target));

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
    expect(pathsOf(importers)).toEqual([]);
  });

  test('shares with Node only files that import no others', () => {
    const shared = files.filter(({ path }) => inBrowser.has(path));
    expect(shared).toHaveLength(17);
    expect(shared.flatMap(importsOf).filter((target) => !inBrowser.has(target))).toEqual([]);
  });

  test('never turns a text into markup or code', () => {
    expect(pathsOf(ofPage.filter(({ text }) => markup.test(text)))).toEqual([]);
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
