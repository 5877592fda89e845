import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';

const skipped = new Set(['node_modules', 'dist', 'runs', '.cache', '.git', 'shared']);

/** Paths of all Markdown files, relative to the package. */
export function markdownFiles(folder = packageRoot()): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : markdownFiles(path);
    return entry.name.endsWith('.md') ? [relative(packageRoot(), path)] : [];
  });
}

/** Pages for users, relative to the package: README and docs/, without what is generated and what is for maintainers. */
export const userPages = (): string[] =>
  markdownFiles()
    .filter((path) => path === 'README.md' || path.startsWith('docs/'))
    .filter((path) => !/^docs\/(design|reference)\//.test(path))
    .toSorted();

export const readDocument = (path: string) => readFileSync(join(packageRoot(), path), 'utf8');

export interface CodeBlock {
  language: string;
  text: string;
  /** Marked `<!-- runnable -->`. */
  runnable: boolean;
}

/** The fenced blocks of a document. */
export function codeBlocks(markdown: string): CodeBlock[] {
  const fence = /(<!-- runnable -->\s*)?^```(\w*)\n([\s\S]*?)^```$/gm;
  return [...markdown.matchAll(fence)].map(([, mark, language = '', text = '']) => {
    return { language, text, runnable: mark !== undefined };
  });
}

/** The name of a file that a block begins with, in a comment: `// name.ts` or `# name.yaml`. */
export const fileNameOf = ({ text }: CodeBlock): string | undefined =>
  /^(?:\/\/|#) ([\w-]+(?:\.[\w-]+)*\.(?:ts|js|yaml))$/m.exec(text.split('\n')[0] ?? '')?.[1];

/** Commands of a document's shell blocks, one a line, without comments and variables that are set for them. */
export const shellCommands = (markdown: string): string[] =>
  codeBlocks(markdown)
    .filter(({ language }) => ['sh', 'bash'].includes(language))
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').replace(/^(?:[A-Z_]+=\S+\s+)+/, ''))
    .filter((line) => line !== '' && !line.startsWith('#'));

/** The document without its fenced blocks. */
export const withoutCodeBlocks = (markdown: string): string =>
  markdown.replaceAll(/^```[\s\S]*?^```$/gm, '');

/** What stands in backticks, outside fenced blocks. */
export const codeSpans = (text: string): string[] =>
  [...withoutCodeBlocks(text).matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);

/** The cells of the rows of the table that follows a heading, as they are written. */
export function tableBelow(markdown: string, heading: string): string[][] {
  const section = markdown.slice(markdown.indexOf(`\n${heading}\n`) + 1);
  const lines = section.split('\n');
  const first = lines.findIndex((line) => line.startsWith('|'));
  const length = lines.slice(first).findIndex((line) => !line.startsWith('|'));
  return lines.slice(first + 2, length < 0 ? undefined : first + length).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
