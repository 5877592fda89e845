import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A source file of the project, by its path from the root, with `/` between folders. */
export interface SourceFile {
  path: string;
  text: string;
}

/** Text of a file at the root of the project. */
export const projectFile = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every file of these endings under the folders of source. */
export function sourceFiles(folders: readonly string[], endings: readonly string[] = ['.ts']) {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => endings.some((ending) => file.endsWith(ending)))
      // Of an example that was installed.
      .filter((file) => !file.includes('node_modules'))
      .map((file) => posix.join(folder, file.split(sep).join('/')))
      .map((path) => ({ path, text: projectFile(path) })),
  );
}

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');

// `import … from 'x'`, `export … from 'x'`, `import 'x'`, `import('x')`, and a worker's `new URL('x', import.meta.url)`.
const specifiers = [
  /\bfrom\s*['"]([^'"]+)['"]/g,
  /\bimport\s*['"]([^'"]+)['"]/g,
  /\bimport\s*\(\s*['"`]([^'"`]+)['"`]/g,
  /\bnew URL\(\s*['"]([^'"]+\.[tj]s)['"]\s*,\s*import\.meta\.url/g,
];

/** What a file imports: a package's name, or a path from the root for a relative import. */
export function importsOf({ path, text }: SourceFile): readonly string[] {
  const code = withoutComments(text);
  return specifiers
    .flatMap((pattern) => [...code.matchAll(pattern)].map(([, target = '']) => target))
    .map((target) => (target.startsWith('.') ? posix.join(dirname(path), target) : target));
}
