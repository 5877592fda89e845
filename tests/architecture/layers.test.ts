import { posix } from 'node:path';

import { describe, expect, test } from '@jest/globals';

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

const files = sourceFiles(['agent_rl', 'dataset', 'model', 'scripts'], ['.ts', '.tsx']);
const numerical = /^(@tensorflow\/|onnxruntime|onnx-proto)/;

describe('The layers', () => {
  test('match the rows of design.md', () => {
    const lines = readDocument('design.md').match(/^\| \d+ +\|.*$/gm) ?? [];
    const named = lines.map((line) =>
      [...line.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    );
    expect(named.toReversed().map((row) => row.toSorted())).toEqual(
      layers.map((row) => row.toSorted()),
    );
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
      .filter(({ path }) => !path.startsWith('agent_rl/engine/'))
      .filter((file) => importsOf(file).some((target) => numerical.test(target)));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  test('make containers only in compose', () => {
    const others = files
      .filter(({ path }) => !path.startsWith('agent_rl/compose/'))
      .filter(({ text }) => /\bnew Container\b/.test(text));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  test('resolve a run in one place', () => {
    const callers = (name: string) =>
      files
        .filter(
          ({ path }) => path.startsWith('agent_rl/compose') || path.startsWith('agent_rl/jobs/'),
        )
        .filter(({ text }) => new RegExp(`(?<!function )\\b${name}\\(`).test(text))
        .map(({ path }) => path);
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

const rooms = ['agent_rl', 'dataset', 'model', 'scripts'];

describe('Circular imports', () => {
  test('never occur, type imports included', () => {
    expect(importCircles(sourceFiles(rooms, ['.ts', '.tsx']))).toEqual([]);
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
