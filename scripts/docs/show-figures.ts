import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { figurePages } from './figures/figure-pages.ts';
import { problemsOf, readFigures, withHashes } from './figures/read-figures.ts';

/*
 * `npm run figures` lists the measured figures of the pages, what they rest on, and what has changed since.
 * `npm run figures -- docs/benchmarks.md:16` writes the hashes of today above the figures of that line: for figures that were
 * measured again.
 */
const fileOf = (page: string): string => join(packageRoot(), page);
const asked = process.argv.slice(2);
const found = figurePages().flatMap((page) =>
  readFigures(readFileSync(fileOf(page), 'utf8')).map((figures) => {
    return { place: `${page}:${figures.line}`, page, ...figures };
  }),
);
const unknown = asked.filter((place) => !found.some((figures) => figures.place === place));
if (unknown.length > 0) {
  process.stderr.write(`No measured figures begin at ${unknown.join(', ')}.\n`);
  process.exit(2);
}
for (const { place, page, basis } of found.filter((figures) => asked.includes(figures.place))) {
  const text = readFileSync(fileOf(page), 'utf8');
  if (basis !== undefined) {
    writeFileSync(
      fileOf(page),
      text.replaceAll(`<!-- ${basis} -->`, `<!-- ${withHashes(basis)} -->`),
    );
  }
  process.stdout.write(`${place}: ${basis === undefined ? 'has no comment' : withHashes(basis)}\n`);
}
if (asked.length === 0) {
  for (const figures of found) {
    const problems = problemsOf(figures);
    const { place, kind, basis = 'nothing' } = figures;
    process.stdout.write(
      `${place} (${kind}): ${basis}\n${problems.map((one) => `  ${one}\n`).join('')}`,
    );
  }
}
