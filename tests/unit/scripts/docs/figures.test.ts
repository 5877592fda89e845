import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { figurePages } from '#scripts/docs/figures/figure-pages.ts';
import { basesOf, basisHash } from '#scripts/docs/figures/basis-hash.ts';
import { problemsOf, readFigures, withHashes } from '#scripts/docs/figures/read-figures.ts';
import { readDocument } from '#tests/support/markdown.ts';
import { promisedJobs } from '#tests/support/promised-jobs.ts';

const pages = figurePages();

test.each(pages)('%s has only figures of what ships', (page) => {
  const problems = readFigures(readDocument(page)).flatMap((figures) =>
    problemsOf(figures).map((problem) => `${page}:${figures.line} ${problem}`),
  );
  if (problems.length === 0) return;
  throw new Error(
    `${problems.join('\n')}\nMeasure again and run: npm run figures -- ${page}:LINE. Or remove the figures.`,
  );
});

const table = (cell: string, basis = ''): string =>
  `# A page\n\n${basis}\n\n| Run | Success |\n| --- | --- |\n| one | ${cell} |\n`;

describe('readFigures', () => {
  test.each([
    ...['90 %', '12 s', '0.34', '1,200', '200 [190, 210]', '1.5 GB', '1.2 x'].map((cell) => [
      cell,
      1,
    ]),
    ...['`0.2 s`', 'Python 3.9 or later', '40', 'a share'].map((cell) => [cell, 0]),
  ] as [string, number][])('finds in a cell with %s %i tables of figures', (cell, count) => {
    const found = { line: 5, kind: 'table', basis: undefined };
    expect(readFigures(table(cell))).toMatchObject(count === 0 ? [] : [found]);
  });

  test('finds shares and minutes in running text and in comments of commands', () => {
    const page =
      'It wins 90 %\nof games.\n\n```sh\nrun # 2 to 6 minutes\n```\n\nTen 95 % intervals.\n';
    expect(readFigures(page)).toMatchObject([
      { line: 1, kind: 'text' },
      { line: 4, kind: 'text' },
    ]);
  });

  test('takes the comment directly above a table, and the comment of its section for a text', () => {
    const basis = '<!-- measured at 12345678: two cores -->';
    const page = `## One\n\nWins 9 %.\n\n${table('9 %', basis).replace('# A page\n\n', '')}\n## Two\n\nWins 8 %.\n`;
    const found = readFigures(page).map((figures) => figures.basis !== undefined);
    expect(found).toEqual([true, true, false]);
    expect(readFigures(table('9 %', `${basis}\n\nText between.`))[0]?.basis).toBeUndefined();
  });
});

describe('The basis of figures', () => {
  const file = 'configs/search_qa_grpo.yaml';
  const right = withHashes(`rests on: ${file}`);

  test('is completed from the run file and written with current hashes', () => {
    expect(right.replaceAll(/@[0-9a-f]{8}/g, '')).toBe(
      `rests on: ${file} model/search-starter dataset/search_tasks dataset/search_corpus`,
    );
    expect(problemsOf({ basis: right, success: true })).toEqual([]);
    expect(basesOf('configs/code_exec_smoke.yaml').join()).toBe('model/starter,dataset/code_tasks');
    expect(basesOf('configs/mixed_grpo.yaml')).toContain('generator:workspace');
  });

  test('is refused if it is absent, incomplete, outdated or without a reason', () => {
    const starter = `model/search-starter@${basisHash('model/search-starter')}`;
    const spoiled = (by: string) => right.replace(` ${starter}`, by);
    const named = 'model/search-starter';
    const problems: [string | undefined, string][] = [
      [spoiled(` ${named}@00000000`), `${named} is ${basisHash(named)} now, not 00000000`],
      [spoiled(` ${named}`), 'not undefined'],
      [spoiled(''), `does not name ${named}`],
      ['not measured: no', 'is not in one of the three allowed forms'],
      ['measured at 12345678', 'is not in one of the three allowed forms'],
      [undefined, 'does not name the files that it rests on'],
    ];
    for (const [basis, problem] of problems)
      expect(problemsOf({ basis, success: false }).join('\n')).toContain(problem);
  });

  test('must be more than a commit if a table shows success', () => {
    const basis = 'measured at 12345678: two cores';
    expect(problemsOf({ basis, success: false })).toEqual([]);
    const [figures] = readFigures(table('**90 %** [80, 95]', `<!-- ${basis} -->`));
    expect(problemsOf(figures!).join()).toContain('shows success');
  });
});

const jobs = promisedJobs();

test('every shipped job has commands and a promise that can be checked', () => {
  expect(jobs.find(({ name }) => name === 'search')?.least).toBeGreaterThan(0.9);
  for (const { commands, least } of jobs) {
    expect(commands.length).toBeGreaterThan(0);
    expect(least ?? 1).toBeLessThanOrEqual(1);
  }
});

test('every run file in configs/ is part of a promised job', () => {
  const files = readdirSync(join(packageRoot(), 'configs'));
  const shipped = files.filter((name) => name.endsWith('.yaml'));
  const commands = jobs.flatMap((job) => job.commands).join('\n');
  // The others belong to starters, which make-starter runs.
  const others = shipped.filter((name) => !commands.includes(`configs/${name}`));
  const starters = ['code_tasks', 'mixed', 'search', 'workspace'];
  expect(others.toSorted()).toEqual(starters.map((name) => `${name}_sft.yaml`));
});
