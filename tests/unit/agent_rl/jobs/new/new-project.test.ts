import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { newProject, ownSpecifier } from '#agent_rl/jobs/new/new-project.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readDocument } from '#tests/support/markdown.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { expectRejection } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const template = join(packageRoot(), 'templates', 'project');

const filesBelow = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(root, path)).isFile())
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();

const make = async (name: string, agentRl?: string) => {
  const printed: string[] = [];
  const project = join(folder, name);
  const print = (text: string) => void printed.push(text);
  const given = agentRl === undefined ? {} : { agentRl };
  const result = await newProject({ folder: project, print, ...given });
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as Manifest;
  return { project, result, printed: printed.join('\n'), manifest };
};

interface Manifest {
  name: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

const settingsOf = (name: string) =>
  parse(readFileSync(join(template, name), 'utf8')) as Record<string, Record<string, unknown>>;

describe('a new project', () => {
  test('has every file of the template, under its own name and filled in', async () => {
    const { project, printed, result } = await make('my-converter');
    const agentRl = ownSpecifier(packageRoot(), project);
    expect(result).toEqual({ folder: project, name: 'my-converter', agentRl });
    expect(printed).toMatch(/my-converter\n {2}npm install\n {2}npm test .*\n {2}npm run learn/);
    // Names that npm would take for its own begin with `_`.
    const named = (path: string) =>
      path.replace(/^_gitignore$/, '.gitignore').replace(/^_(?=package)/, '');
    const expected = filesBelow(template).map((path) => [path, named(path)] as const);
    expect(filesBelow(project)).toEqual(expected.map(([, path]) => path).toSorted());
    for (const [from, to] of expected) {
      const text = readFileSync(join(template, from), 'utf8')
        .replaceAll('{{name}}', 'my-converter')
        .replaceAll('{{agentRl}}', agentRl);
      expect(readFileSync(join(project, to), 'utf8')).toBe(text);
      expect(text).not.toContain('{{');
    }
  });

  test.each([
    ['My Agent', 'my-agent'],
    ['_hidden.', 'hidden.'],
    ['agent_rl', 'my-agent'],
    ['日本', 'my-agent'],
  ])('is named after its folder, as npm wants it: %s, %s', async (name, expected) => {
    // Into a folder that is there and empty.
    mkdirSync(join(folder, name));
    expect((await make(name)).manifest.name).toBe(expected);
  });

  test('is not written where something is', async () => {
    writeBelow(folder, 'full/notes.txt', 'mine');
    for (const name of ['a', 'b', 'c', 'd']) writeBelow(folder, `fuller/${name}`, '');
    await expectRejection(
      make('full'),
      'OUTPUT_UNWRITABLE',
      'full is not empty: it holds notes.txt.',
    );
    await expectRejection(make('fuller'), 'OUTPUT_UNWRITABLE', 'it holds a, b, c and 1 more.');
    expect(filesBelow(join(folder, 'full'))).toEqual(['notes.txt']);
    await expectRejection(make('full/notes.txt'), 'OUTPUT_UNWRITABLE');
  });
});

describe('The project', () => {
  test('depends on the checkout that runs', async () => {
    const { manifest, project } = await make('of-checkout');
    const { agent_rl: given = '' } = manifest.dependencies;
    expect(given).toMatch(/^file:[^\\]+$/);
    expect(resolve(project, given.slice('file:'.length))).toBe(packageRoot());
  });

  test('depends on the tarball or folder that is given, or on another source that npm takes', async () => {
    const tarball = writeBelow(folder, 'agent_rl-1.0.0.tgz', '');
    const fromHere = relative(process.cwd(), tarball);
    const dependency = async (name: string, given: string) =>
      (await make(name, given)).manifest.dependencies['agent_rl'];
    expect(await dependency('of-tarball', fromHere)).toBe('file:../agent_rl-1.0.0.tgz');
    expect(await dependency('of-version', '^1.0.0')).toBe('^1.0.0');
    expect(await dependency('of-odd-name', 'file:a"b\\c')).toBe('file:a"b\\c');
  });

  test.each([
    ['the tarball that the running copy was installed from', 'file:../agent_rl-0.1.0.tgz'],
    ['a repository', 'git+ssh://git@host.test/agent_rl.git#0a1b'],
    ['the address of a tarball', 'https://host.test/a.tgz'],
    ['a version', 'https://registry.test/agent_rl/-/agent_rl-0.1.7.tgz', '^0.1.7'],
    ['a version where the lock cannot be read', 'not JSON" ', '^0.1.7'],
  ])('depends on %s', (_, resolved, expected = resolved) => {
    const modules = join(folder, 'work', 'node_modules');
    const lock = `{"packages": {"node_modules/agent_rl": {"resolved": "${resolved}"}}}`;
    writeBelow(modules, '.package-lock.json', lock);
    writeBelow(modules, 'agent_rl/package.json', '{"name": "agent_rl", "version": "0.1.7"}');
    expect(ownSpecifier(join(modules, 'agent_rl'), join(folder, 'app'))).toBe(expected);
  });

  test('depends on the versions of the tools that this package is tested with', async () => {
    const { manifest } = await make('tools');
    const own = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as Manifest;
    expect({ ...own.dependencies, ...own.devDependencies }).toMatchObject(manifest.devDependencies);
  });
});

test('the template has run files that each start from the model of the previous one', () => {
  const { seed } = settingsOf('run.yaml')['run'] ?? {};
  expect(settingsOf('grpo.yaml')['model']).toEqual({ path: `runs/sft-seed${String(seed)}` });
});

test('the template is shown in the tutorial as it is', () => {
  const page = readDocument('docs/tutorials/own-tool.md');
  const shown = [
    ...page.matchAll(/^<!-- ([\w./-]+\.(?:ts|yaml)) -->\n\n```\w+\n([\s\S]*?)^```$/gm),
  ];
  const names = ['plugins/convert-tool.ts', 'sft.yaml', 'grpo.yaml'];
  expect(shown.map(([, name]) => name)).toEqual(names);
  for (const [, name = '', text = ''] of shown) {
    expect(readFileSync(join(template, name), 'utf8')).toContain(text);
  }
});
