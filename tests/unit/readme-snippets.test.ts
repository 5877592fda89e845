import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, describe, expect, jest, test } from '@jest/globals';

import * as agentRl from '../../agent_rl/index.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { CodeTaskDataset } from '../../dataset/tasks/code-task-dataset.ts';
import { readConversations } from '../../dataset/demonstrations/conversations.ts';
import { type CodeBlock, codeBlocks, readDocument } from '../support/markdown.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const root = packageRoot();
const folder = temporaryFolder();
const blocks = codeBlocks(readDocument('README.md'));
const typescript = blocks.filter(({ language }) => language === 'ts');
const runnable = typescript.filter((block) => block.runnable);

/** Snippets know the package by its name, as its users do. */
const source = join(root, 'agent_rl', 'index.ts');
const fileOf = ({ text }: CodeBlock): string =>
  writeBelow(folder, `snippet-${blocks.findIndex((block) => block.text === text)}.ts`, text);
const onSources = ({ text }: CodeBlock, index: number): string =>
  writeBelow(
    folder,
    `runnable-${index}.ts`,
    text.replaceAll("from 'agent_rl'", `from '${source}'`),
  );

afterEach(() => {
  jest.restoreAllMocks();
});

describe("README's runnable snippets", () => {
  test('are there', () => {
    expect(runnable.length).toBeGreaterThanOrEqual(4);
  });

  test.each(runnable.map((block, index) => ({ block, index })))(
    'number $index runs and prints what it says',
    async ({ block, index }) => {
      const printed: string[] = [];
      jest.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
        printed.push(values.join(' '));
      });
      await import(pathToFileURL(onSources(block, index)).href);
      const said = [...block.text.matchAll(/\/\/ → (.+)$/gm)].map(([, text]) => text);
      expect(printed).toEqual(said);
    },
  );
});

test("README's plugins are plugins", async () => {
  const modules = await Promise.all(
    runnable
      .map(onSources)
      .map(async (file) => (await import(pathToFileURL(file).href)) as Record<string, unknown>),
  );
  const exported = modules.flatMap((module) => Object.values(module));
  const names = exported.map(
    (value) =>
      agentRl.tools.specOf(value)?.name ??
      agentRl.environments.specOf(value)?.name ??
      agentRl.rewards.specOf(value)?.name,
  );
  expect(names).toEqual(['word_count', 'no_apologies', 'counting']);
});

const untyped = [
  'agent_rl/search/web/pages/turndown.d.ts',
  'dataset/prepare/untyped-packages.d.ts',
];

test("README's snippets have the right types", () => {
  const files = typescript.filter(({ text }) => !text.includes('agent_rl/contracts')).map(fileOf);
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      rootDir: '/',
      typeRoots: [join(root, 'node_modules', '@types')],
      paths: { agent_rl: [source] },
    },
    include: [],
    // The sources that the snippets import need the types of packages without any.
    files: [...files, ...untyped.map((file) => join(root, file))],
  };
  writeBelow(folder, 'package.json', '{"type": "module"}');
  const project = writeBelow(folder, 'tsconfig.json', JSON.stringify(config));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' });
  expect(stdout).toBe('');
});

test("README's task lines and conversation are read as they stand", async () => {
  const lines = blocks.filter(({ language }) => language === 'json').map(({ text }) => text);
  const written = lines.map((text) => JSON.stringify(JSON.parse(text)));
  const tasks = written.filter((line) => line.startsWith('{"task_id"'));
  const file = writeBelow(folder, 'tasks.jsonl', tasks.join('\n'));
  const dataset = await CodeTaskDataset.fromPath(file);
  expect(dataset.tasks.map(({ tests }) => tests.kind)).toEqual(['stdin', 'calls', 'asserts']);
  const talks = written.filter((line) => line.startsWith('{"messages"'));
  const conversations = await readConversations(
    writeBelow(folder, 'talks.jsonl', talks.join('\n')),
  );
  expect(conversations[0]?.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
});
