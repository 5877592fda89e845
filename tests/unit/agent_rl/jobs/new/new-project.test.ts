import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { newProject, ownSpecifier } from '#agent_rl/jobs/new/new-project.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { readDocument } from '#tests/support/markdown.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

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
  const result = await newProject({
    folder: project,
    ...(agentRl !== undefined && { agentRl }),
    print: (text) => void printed.push(text),
  });
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
    const { project } = await make('my-converter');
    const named: Record<string, string> = {
      _gitignore: '.gitignore',
      '_package.json': 'package.json',
    };
    const expected = filesBelow(template).map((path) => [path, named[path] ?? path] as const);
    expect(filesBelow(project)).toEqual(expected.map(([, path]) => path).toSorted());
    for (const [from, to] of expected) {
      const text = readFileSync(join(template, from), 'utf8')
        .replaceAll('{{name}}', 'my-converter')
        .replaceAll('{{agentRl}}', ownSpecifier(packageRoot(), project));
      expect(readFileSync(join(project, to), 'utf8')).toBe(text);
      expect(text).not.toContain('{{');
    }
  });

  test('says what to do next', async () => {
    const { project, printed, result } = await make('next');
    expect(printed).toContain(`Created ${project}`);
    expect(printed).toMatch(/cd .*next\n {2}npm install\n {2}npm test .*\n {2}npm run learn/);
    expect(result).toEqual({
      folder: project,
      name: 'next',
      agentRl: ownSpecifier(packageRoot(), project),
    });
  });

  test('is written into a folder that is there and empty', async () => {
    mkdirSync(join(folder, 'empty'));
    expect((await make('empty')).manifest.name).toBe('empty');
  });

  test.each([
    ['My Agent', 'my-agent'],
    ['_hidden.', 'hidden.'],
    ['agent_rl', 'my-agent'],
    ['日本', 'my-agent'],
  ])('is named after its folder, as npm wants it: %s, %s', async (name, expected) => {
    expect((await make(name)).manifest.name).toBe(expected);
  });

  test('is not written where something is', async () => {
    writeBelow(folder, 'full/notes.txt', 'mine');
    const files = ['a', 'b', 'c', 'd'];
    for (const name of files) writeBelow(folder, `fuller/${name}`, '');
    await expect(make('full')).rejects.toMatchObject({
      code: 'OUTPUT_UNWRITABLE',
      message: `${join(folder, 'full')} is not empty: it holds notes.txt. Name a folder that does not exist yet, or an empty one.`,
    });
    await expect(make('fuller')).rejects.toThrow('it holds a, b, c and 1 more.');
    expect(filesBelow(join(folder, 'full'))).toEqual(['notes.txt']);
  });

  test('is not written over a file', async () => {
    writeBelow(folder, 'file', 'mine');
    await expect(make('file')).rejects.toMatchObject({ code: 'OUTPUT_UNWRITABLE' });
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

  const project = join(folder, 'app');
  const root = join(folder, 'work', 'node_modules', 'agent_rl');
  const lock = (resolved: string) =>
    writeBelow(
      folder,
      'work/node_modules/.package-lock.json',
      JSON.stringify({ packages: { 'node_modules/agent_rl': { resolved } } }),
    );

  test('depends on the tarball that the running copy was installed from', () => {
    lock('file:../agent_rl-0.1.0.tgz');
    expect(ownSpecifier(root, project)).toBe('file:../agent_rl-0.1.0.tgz');
  });

  test('depends on a repository or the address of a tarball', () => {
    for (const address of [
      'git+ssh://git@host.test/agent_rl.git#0a1b',
      'https://host.test/a.tgz',
    ]) {
      lock(address);
      expect(ownSpecifier(root, project)).toBe(address);
    }
  });

  test('depends on the version of a copy from a registry', () => {
    writeBelow(root, 'package.json', '{"name": "agent_rl", "version": "0.1.7"}');
    lock('https://registry.test/agent_rl/-/agent_rl-0.1.7.tgz');
    expect(ownSpecifier(root, project)).toBe('^0.1.7');
    writeBelow(folder, 'work/node_modules/.package-lock.json', 'not JSON');
    expect(ownSpecifier(root, project)).toBe('^0.1.7');
  });

  test('depends on the versions of the tools that this package is tested with', async () => {
    const { manifest } = await make('tools');
    const own = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as Manifest;
    expect({ ...own.dependencies, ...own.devDependencies }).toMatchObject(manifest.devDependencies);
  });
});

describe('The template', () => {
  test('has run files that each start from the model of the previous one', () => {
    const { seed } = settingsOf('run.yaml')['run'] ?? {};
    expect(settingsOf('grpo.yaml')['model']).toEqual({ path: `runs/sft-seed${String(seed)}` });
  });
});

test('is shown in the tutorial as it is', () => {
  const page = readDocument('docs/tutorials/own-tool.md');
  const shown = [
    ...page.matchAll(/^<!-- ([\w./-]+\.(?:ts|yaml)) -->\n\n```\w+\n([\s\S]*?)^```$/gm),
  ];
  expect(shown.map(([, name]) => name)).toEqual([
    'plugins/convert-tool.ts',
    'sft.yaml',
    'grpo.yaml',
  ]);
  for (const [, name = '', text = ''] of shown) {
    expect(readFileSync(join(template, name), 'utf8')).toContain(text);
  }
});

describe('agent-rl new', () => {
  test('makes a project in the folder it is given', async () => {
    const given: unknown[] = [];
    const { code, stdout } = await commandLine(['new', 'app', '--agent-rl', 'x.tgz', '--json'], {
      jobs: {
        newProject: async ({ folder: asked, agentRl }) => {
          given.push({ asked, agentRl });
          return { folder: asked };
        },
      },
    });
    expect(given).toEqual([{ asked: 'app', agentRl: 'x.tgz' }]);
    expect({ code, json: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      json: { folder: 'app' },
    });
  });
});
