import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';

import type { ErrorCode } from '#agent_rl/core/errors.ts';
import type { ReportOptions } from '#agent_rl/jobs/report/report-runs.ts';
import { rate, reportPage, wholeRun, writtenReport } from '#tests/support/report-page.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { useMeanings } from '#agent_rl/runs/query/use-meanings.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { writeRun } from '#tests/support/written-run.ts';

const folder = temporaryFolder();

describe('The report of a run', () => {
  const run = writeRun(folder, 'one', wholeRun);

  test('lies in the folder of the run and begins with what came of it', async () => {
    const { document, file, words } = await reportPage({ runs: [run] });
    expect(file).toBe(join(run, 'report.html'));
    expect(document.querySelector('h1')?.textContent).toBe('one');
    expect(words[0]).toBe('grpo in sums, 2 iterations, seed 7.');
    expect(words[1]).toMatch(
      /^Of 4 held-out tasks, the policy solved 25\.0 % \[5\.0, 70\.0\] before/,
    );
  });

  test('has the numbers of its files', async () => {
    const { rows, document } = await reportPage({ runs: [run] });
    const [all, long] = ['All (without slices)', 'long ones'].map((name) =>
      rows.find(([first]) => first === name)?.join(),
    );
    expect([all, long]).toEqual([
      'All (without slices),1 of 4 = 25.0 % [5.0, 70.0],3 of 4 = 75.0 % [30.0, 95.0],+50.0 [+10.0, +80.0]',
      'long ones,0 of 4 = 0.0 % [0.0, 50.0],2 of 4 = 50.0 % [10.0, 90.0],+50.0 [+20.0, +80.0]',
    ]);
    const expected = [
      ['completed', '12 = 75.0 %'],
      ['zero-advantage', `100 = 25.0 %: ${useMeanings['zero-advantage']}`],
      ['programs', '2 before, 3.5 after'],
      ['Wall time', '61 s'],
      ['Peak memory', '3 MiB'],
      ['Largest |log p(rollout) - log p(train)|', '2.50e-5 nats'],
      ['Trained weights', 'fe'.repeat(32)],
      ['Training tasks', 'aa'.repeat(32)],
      ['First entry of the log', '2026-11-26T01:18:23.143Z'],
    ];
    expect(rows).toEqual(expect.arrayContaining(expected));
    expect(rows.filter(([name]) => name === 'aborted')).toEqual([]);
    // 0.9 is the default of train.beta1, and where it lies says nothing of a run.
    const settings = rows.map(([name = '']) => name).filter((name) => /^\w+\.\w+/.test(name));
    expect(settings).toEqual(['run.seed', 'environment.type', 'train.iterations']);
    const lines = [...document.querySelectorAll('section > pre')].map((one) => one.textContent);
    expect(lines[0]).toContain(`npx agent-rl train --config ${run}/config.yaml`);
    expect(lines[1]).toBe(
      'warn: A setting has no effect.\nwarn: Iteration 1: 2 failed:\n  2 x a reason',
    );
  });

  test('shows the first episode of each kind, of the evaluation after training', async () => {
    const { document, rows } = await reportPage({ runs: [run] });
    const articles = [...document.querySelectorAll('article')];
    expect(articles.map((one) => one.querySelector('.about')?.textContent)).toEqual([
      'Episode after/2/0/3/0 of easy: completed, reward 1.00, 1 turn',
      'Episode after/2/0/2/0 of repaired: completed, reward 1.00, 1 turn',
      'Episode after/2/0/1/0 of lost: wrong-answer, reward 0.00, 1 turn',
    ]);
    const said = [...(articles[1]?.querySelectorAll('.entry') ?? [])].map((entry) =>
      ['.label', 'pre'].map((part) => entry.querySelector(part)?.textContent).join(': '),
    );
    expect(said).toEqual([
      'user: How many?',
      'assistant calls run: print(1',
      'run: error, 1 ms: SyntaxError',
      'assistant calls run: print(1)',
      'run, 1 ms: 1',
      'assistant, thinking: A thought.',
      'assistant: Two.',
    ]);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['Solved without a failed call', '2'],
        ['Recovered: solved after a failed or malformed call', '1'],
        ['Not solved', '1'],
      ]),
    );
  });

  test('describes each curve for screen readers', async () => {
    const { document } = await reportPage({ runs: [run] });
    const described = [...document.querySelectorAll('svg[role=img] > desc')];
    expect(described.map((one) => one.textContent)).toEqual([
      'Success. held-out tasks, 95 % interval: from 25.0 % at iteration 0 to 75.0 % at iteration 2; training tasks: from 25.0 % at iteration 1 to 50.0 % at iteration 2',
      'Reward. one: from 0.2 at iteration 1 to 0.45 at iteration 2',
      'Time per iteration. one: from 3 s at iteration 1 to 2 s at iteration 2',
    ]);
  });

  test('needs no other file and runs nothing', async () => {
    const { document } = await reportPage({ runs: [run] });
    expect(
      document.querySelector('meta[http-equiv="Content-Security-Policy"]')?.getAttribute('content'),
    ).toBe("default-src 'none'; style-src 'unsafe-inline'; img-src data:");
    expect(
      document.querySelectorAll('script, link, img, iframe, object, embed, base'),
    ).toHaveLength(0);
    const targets = [...document.querySelectorAll('a')].map((link) => link.getAttribute('href'));
    expect(targets.filter((target) => !target?.startsWith('#s'))).toEqual([]);
  });

  test('says that no controls were run, or shows those it is given', async () => {
    const without = (await reportPage({ runs: [run] })).words.join('\n');
    expect(without.split('This report has no controls')).toHaveLength(2);
    const ofSeed = (seed: number, after: object) => ({
      seed,
      controls: { 'more-warm-up': { after }, ...(seed === 7 && { before: null }) },
    });
    const seeds = [ofSeed(7, rate(2, 0.2, 0.8)), ofSeed(8, rate(1, 0, 0.6))];
    const text = JSON.stringify({ config: 'configs/sums.yaml', seeds });
    const controls = writeBelow(folder, 'controls.json', text);
    const { rows, words } = await reportPage({ runs: [run], controls });
    const rates = ['2 of 4 = 50.0 % [20.0, 80.0]', '1 of 4 = 25.0 % [0.0, 60.0]'];
    expect(rows).toContainEqual(['More warm up', ...rates]);
    expect(rows).toContainEqual(['Before', 'not run', 'not run']);
    expect(words).toContain(
      'Controls of configs/sums.yaml, each evaluated separately. This report has no run with seed 8.',
    );
  });

  test.each<[string, Partial<ReportOptions>, ErrorCode, string | RegExp]>([
    [
      'controls without seeds',
      { controls: writeBelow(folder, 'none.json', '{}') },
      'CONFIG_INVALID',
      /^--controls .*none\.json cannot be read: it has no "seeds"\. Give the controls\.json/,
    ],
    [
      'an unknown curve',
      { curves: ['reward', 'sucess'] },
      'CONFIG_INVALID',
      'No curve is named "sucess". Known: success, reward, ',
    ],
    [
      'a curve that no run has',
      { curves: ['accuracy'], format: 'svg' },
      'CONFIG_INVALID',
      '--curves accuracy: no run of this report has this curve. Available curves: success, reward',
    ],
    ['a folder', { out: folder }, 'OUTPUT_UNWRITABLE', `--out ${folder} is a folder.`],
  ])('refuses %s', async (_, options, code, message) => {
    const refused = writtenReport({ runs: [run], ...options });
    expect(await rejectionOf(refused)).toMatchObject(errorOf(code, message));
  });

  test('has tables and fences as Markdown', async () => {
    const out = join(folder, 'one.md');
    const { text } = await writtenReport({ runs: [run], format: 'md', out });
    expect(text).toContain(
      String.raw`| All (without slices) | 1 of 4 = 25.0 % \[5.0, 70.0\] | 3 of 4 = 75.0 % \[30.0, 95.0\] |`,
    );
    expect(text).toContain('```text\n[user]\n  How many?\n[assistant]\n  Two.\n```');
    expect(text).toContain(String.raw`| 2 | 75.0 % \[30.0, 95.0\] | 50.0 % |`);
  });

  test('says in Markdown how many rows of a curve it shows', async () => {
    const metrics = Array.from({ length: 20 }, () => ({ 'rollout/rewardMean': 0.5 }));
    const long = writeRun(folder, 'long', { metrics });
    const { text } = await writtenReport({ runs: [long], format: 'md' });
    expect(text).toContain('**Reward** Shown are 9 of 20 rows.');
  });

  test.each([
    [{ eval: { before: 5, after: 'x' } }, 'eval.before must be object, and is 5'],
    [{ warnings: 3 }, 'warnings must be array, and is 3'],
    [{ machines: {} }, 'machines must be array, and is {}'],
  ])('refuses a summary of another shape: %j', async (odd, problem) => {
    const broken = writeRun(folder, 'broken', { summary: odd });
    const place = `${join(broken, 'summary.json')} cannot be read: ${problem}.`;
    const refused = writtenReport({ runs: [broken] });
    expect(await rejectionOf(refused)).toMatchObject(errorOf('CHECKPOINT_INVALID', place));
  });

  test('has, as a picture, the requested curves and their data', async () => {
    const out = join(folder, 'one.svg');
    const { text } = await writtenReport({ runs: [run], format: 'svg', out, curves: ['reward'] });
    const { document } = parseHTML(text);
    const data = JSON.parse(document.querySelector('metadata')?.textContent ?? '') as {
      charts: { title: string; lines: { xs: unknown; ys: unknown }[] }[];
    };
    expect(data.charts.map(({ title }) => title)).toEqual(['Reward']);
    expect(data.charts[0]?.lines[0]).toMatchObject({ xs: [1, 2], ys: [0.2, 0.45] });
  });
});
