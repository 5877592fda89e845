import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../../../agent_rl/core/package-root.ts';

/**
 * Pages whose figures must rest on what ships: README and docs/. Left out is what is written from the code, and the log and
 * the decisions, whose entries are of their dates.
 */
export function figurePages(): string[] {
  const docs = readdirSync(join(packageRoot(), 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((page) => page.endsWith('.md'))
    .map((page) => join('docs', page).replaceAll('\\', '/'));
  const left = /^docs\/(?:reference\/|design\/(?:log|decisions)\.md$)/;
  return ['README.md', ...docs].filter((page) => !left.test(page)).toSorted();
}
