import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { figurePages } from './figures/figure-pages.ts';
import { type Figures, problemsOf, readFigures, withHashes } from './figures/read-figures.ts';

/*
 * `npm run figures` lists the measured figures of the pages, what they rest on, and what has changed since.
 * `npm run figures -- docs/benchmarks.md:16` writes the hashes of today above the figures of that line: for figures that were
 * measured again.
 */
const fileOf = (page: string): string => join(packageRoot(), page);
const print = (...lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(''));

const found = new Map<string, Figures>();
for (const page of figurePages()) {
  const text = readFileSync(fileOf(page), 'utf8');
  for (const figures of readFigures(text)) found.set(`${page}:${figures.line}`, figures);
}

function writeHashes(place: string): void {
  const basis = found.get(place)?.basis;
  if (basis === undefined) {
    throw new TypeError(
      `No measured figures with a comment begin at ${place}: npm run figures lists them.`,
    );
  }
  const file = fileOf(place.replace(/:\d+$/, ''));
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(`<!-- ${basis} -->`, `<!-- ${withHashes(basis)} -->`));
  print(`${place}: ${withHashes(basis)}`);
}

const asked = process.argv.slice(2);
for (const place of asked) writeHashes(place);
if (asked.length === 0) {
  for (const [place, figures] of found) {
    const { kind, basis = 'nothing' } = figures;
    print(`${place} (${kind}): ${basis}`, ...problemsOf(figures).map((problem) => `  ${problem}`));
  }
}
