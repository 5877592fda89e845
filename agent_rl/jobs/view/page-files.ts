import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../../core/package-root.ts';

export interface PageFile {
  /** In the built page, and in an export. */
  name: string;
  type: string;
}

/** What the browser loads, by its address. None of it holds data. */
export const pageFiles: Readonly<Record<string, PageFile>> = {
  '/': { name: 'page.html', type: 'text/html; charset=utf-8' },
  '/page.js': { name: 'page.js', type: 'text/javascript; charset=utf-8' },
  '/page.css': { name: 'page.css', type: 'text/css; charset=utf-8' },
};

export const builtPage = (): string => join(packageRoot(), 'dist', 'agent_rl', 'page');

/** Why a folder does not hold the page, with what to do; undefined where it does. */
export function pageProblem(folder: string): string | undefined {
  const missing = Object.values(pageFiles).filter(({ name }) => !existsSync(join(folder, name)));
  if (missing.length === 0) return undefined;
  const names = missing.map(({ name }) => name).join(', ');
  return `The page is not built: ${folder} has no ${names}. Run npm run build in the checkout, or install the package again.`;
}

export const readPageFile = (folder: string, { name }: PageFile): Buffer =>
  readFileSync(join(folder, name));
