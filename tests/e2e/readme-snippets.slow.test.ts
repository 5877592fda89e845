import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, describe, expect, jest, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { CodeTaskDataset } from '#dataset/tasks/code-task-dataset.ts';
import { readConversations } from '#dataset/demonstrations/conversations.ts';
import {
  type CodeBlock,
  codeBlocks,
  fileNameOf,
  readDocument,
  userPages,
} from '../support/markdown.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const root = packageRoot();
const folder = temporaryFolder();

interface Snippet {
  block: CodeBlock;
  /** The page's own folder for what its snippets write. */
  place: string;
  /** Name of its file, the one it begins with or one of our own. */
  file: string;
}

const snippets: readonly Snippet[] = userPages().flatMap((page) =>
  codeBlocks(readDocument(page)).map((block, index) => ({
    block,
    place: page.replaceAll(/[/.]/g, '-'),
    file: fileNameOf(block) ?? `snippet-${index}.ts`,
  })),
);
const typescript = snippets.filter(({ block }) => block.language === 'ts');
const runnable = typescript.filter(({ block }) => block.runnable);

/** Snippets know the package by its name, as its users do. */
const agentRl = join(root, 'agent_rl', 'index.ts');
const plugin = join(root, 'agent_rl', 'plugin.ts');
const contracts = join(root, 'tests', 'contracts', 'index.ts');
const gateway = join(root, 'agent_rl', 'gateway', 'index.ts');
const aiSdk = join(root, 'agent_rl', 'ai-sdk.ts');
const installed = (name: string, types: string) => [join(root, 'node_modules', name, types)];
const write = ({ place, file, block }: Snippet): string =>
  writeBelow(folder, join(place, file), block.text);
const onSources = ({ place, block }: Snippet, index: number): string =>
  writeBelow(
    folder,
    join(place, `runnable-${index}.ts`),
    block.text
      .replaceAll("from 'agent_rl'", `from '${agentRl}'`)
      .replaceAll("from 'agent_rl/plugin'", `from '${plugin}'`),
  );

/** Writes a snippet and the files it imports, which may be another page's. */
function writeWithImports(snippet: Snippet): string[] {
  const names = [...snippet.block.text.matchAll(/from '\.\/([\w.-]+)'/g)].map(
    ([, name = '']) => name,
  );
  const imported = names.flatMap((name) => {
    const own = typescript.find(({ place, file }) => place === snippet.place && file === name);
    const found = own ?? typescript.findLast(({ file }) => file === name);
    if (found === undefined)
      throw new Error(`${snippet.place} imports ${name}, which no page shows.`);
    return [write({ ...found, place: snippet.place })];
  });
  return [write(snippet), ...imported];
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('The runnable snippets of the pages', () => {
  test('the pages have runnable snippets', () => {
    expect(runnable.length).toBeGreaterThanOrEqual(7);
  });

  test.each(runnable.map((snippet, index) => ({ snippet, index, where: snippet.place })))(
    'snippet number $index of $where runs and prints what the page says',
    async ({ snippet, index }) => {
      const printed: string[] = [];
      jest.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
        printed.push(values.join(' '));
      });
      await import(pathToFileURL(onSources(snippet, index)).href);
      const promised = [...snippet.block.text.matchAll(/\/\/ → (.+)$/gm)].map(([, text]) => text);
      expect(printed).toEqual(promised);
    },
  );
});

const untyped = [
  'agent_rl/search/web/pages/turndown.d.ts',
  'dataset/prepare/untyped-packages.d.ts',
];

test('the snippets of the pages type-check', () => {
  const files = [...new Set(typescript.flatMap(writeWithImports))];
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      rootDir: '/',
      typeRoots: [join(root, 'node_modules', '@types')],
      paths: {
        agent_rl: [agentRl],
        'agent_rl/plugin': [plugin],
        'agent_rl/contracts': [contracts],
        'agent_rl/gateway': [gateway],
        'agent_rl/ai-sdk': [aiSdk],
        zod: installed('zod', 'index.d.ts'),
        ai: installed('ai', 'dist/index.d.ts'),
        '@ai-sdk/openai-compatible': installed('@ai-sdk/openai-compatible', 'dist/index.d.ts'),
      },
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

test('the task lines and the conversation of the pages can be read unchanged', async () => {
  const lines = codeBlocks(readDocument('docs/guides/datasets.md'))
    .filter(({ language }) => language.startsWith('json'))
    .map(({ text }) => text);
  const written = lines.map((text) => JSON.stringify(JSON.parse(text)));
  const tasks = written.filter((line) => line.startsWith('{"task_id"'));
  const file = writeBelow(folder, 'tasks.jsonl', tasks.join('\n'));
  const dataset = await CodeTaskDataset.fromPath(file);
  expect(dataset.tasks.map(({ tests }) => tests.kind)).toEqual(['stdin', 'calls', 'asserts']);
  const talks = written.filter((line) => line.startsWith('{"messages"'));
  const conversations = await readConversations(
    writeBelow(folder, 'talks.jsonl', talks.join('\n')),
  );
  expect(conversations[0]?.messages.map(({ role }) => role)).toEqual(
    'user assistant tool assistant'.split(' '),
  );
});
