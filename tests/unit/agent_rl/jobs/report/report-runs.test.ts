import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';

import type { ErrorCode } from '#agent_rl/core/errors.ts';
import type { ReportOptions } from '#agent_rl/jobs/report/report-runs.ts';
import { useMeanings } from '#agent_rl/runs/query/use-meanings.ts';
import {
  config,
  rate,
  reportPage,
  summary,
  wholeRun,
  writtenReport,
} from '#tests/support/report-page.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { expectRejection } from '#tests/support/thrown.ts';
import { toldEpisode, writeRun } from '#tests/support/written-run.ts';

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
    ['one run given twice', { runs: [run, `${run}/`] }, 'CONFIG_INVALID', '/ is named twice.'],
    ['a folder that is no run', { runs: [join(folder, 'nowhere')] }, 'CHECKPOINT_INVALID', ''],
    [
      'a summary of another shape',
      { runs: [writeRun(folder, 'odd', { summary: { eval: { before: 5 }, warnings: [] } })] },
      'CHECKPOINT_INVALID',
      /summary\.json cannot be read: eval\.before must be object, but it is 5\./,
    ],
  ])('refuses %s', async (_, options, code, message) => {
    await expectRejection(writtenReport({ runs: [run], ...options }), code, message);
  });

  test('has tables and fences as Markdown', async () => {
    const out = join(folder, 'one.md');
    const { text } = await writtenReport({ runs: [run], format: 'md', out });
    expect(text).toContain(
      String.raw`| All (without slices) | 1 of 4 = 25.0 % \[5.0, 70.0\] | 3 of 4 = 75.0 % \[30.0, 95.0\] |`,
    );
    expect(text).toContain('```text\n[user]\n  How many?\n[assistant]\n  Two.\n```');
    expect(text).toContain(String.raw`| 2 | 75.0 % \[30.0, 95.0\] | 50.0 % |`);
    const metrics = Array.from({ length: 20 }, () => ({ 'rollout/rewardMean': 0.5 }));
    const long = await writtenReport({
      runs: [writeRun(folder, 'long', { metrics })],
      format: 'md',
    });
    expect(long.text).toContain('**Reward** Shown are 9 of 20 rows.');
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

describe('The report of several runs', () => {
  const runs = [
    writeRun(folder, 'several/one', wholeRun),
    writeRun(folder, 'several/two', {
      ...wholeRun,
      config: config.replace('seed: 7', 'seed: 9'),
      summary: summary(4),
    }),
  ];

  test('shows runs side by side, with mean and range, in a file beside them', async () => {
    const { file, rows, words } = await reportPage({ runs });
    expect(file).toBe(join(folder, 'several', 'report.html'));
    const all = rows.filter(([name]) => name?.startsWith('All')).map((row) => row.slice(1).join());
    expect(all).toEqual([
      'one,7,1 of 4 = 25.0 % [5.0, 70.0],3 of 4 = 75.0 % [30.0, 95.0],+50.0 [+10.0, +80.0]',
      'two,9,1 of 4 = 25.0 % [5.0, 70.0],4 of 4 = 100.0 % [30.0, 95.0],+75.0 [+10.0, +80.0]',
      'mean (range),,25.0 % (25.0 % to 25.0 %),87.5 % (75.0 % to 100.0 %),+62.5 (+50.0 to +75.0)',
    ]);
    expect(rows).toContainEqual(['Cost', 'one', 'two']);
    expect(words[1]).toBe(
      'Of the held-out tasks, the policies of 2 runs solved 25.0 % (25.0 % to 25.0 %) before training and 87.5 % (75.0 % to 100.0 %) after it: means, with the range in parentheses.',
    );
  });

  test('says which run was not evaluated', async () => {
    const { summary: _summary, ...going } = wholeRun;
    const { words } = await reportPage({
      runs: [...runs, writeRun(folder, 'several/going', going)],
    });
    expect(words[1]).toMatch(/^Of the held-out tasks, the policies of 2 runs .* in it: 1\.$/);
    expect(words[2]).toMatch(/^going: .*: 1 of 1 = 100\.0 %, before.*; 3 of 4 = 75\.0 %, after/);
    expect(words[3]).toMatch(/^going: The run has no summary\.json: it was interrupted .* 2 iter/);
  });

  const tasks = { trainTasks: [], evalTasks: ['cc'.repeat(32)], startModel: 'bb'.repeat(32) };
  const otherRate = config.replace('beta1: 0.9', 'beta1: 0.8');
  test.each([
    ['on other tasks', { inputs: { sha256: tasks } }, /evaluated on different tasks, so no mean/],
    [
      'with other settings',
      { config: otherRate },
      /differ in more than their seed \(train\.beta1\), so/,
    ],
  ])('gives a reason instead of a mean for runs %s', async (name, changed, why) => {
    const other = writeRun(folder, `several/${name}`, { ...wholeRun, ...changed });
    const { rows, words } = await reportPage({ runs: [runs[0] ?? '', other] });
    expect(words[1]).toMatch(why);
    expect(rows.flat()).not.toContain('mean (range)');
  });

  test('draws their curves over each other, a colour for each run', async () => {
    const { document } = await reportPage({ runs, curves: ['reward'] });
    expect(document.querySelectorAll('figure')).toHaveLength(1);
    const paths = [...document.querySelectorAll('path.line')];
    const lines = paths.map((path) => path.getAttribute('class'));
    expect(lines).toEqual(['line c0', 'line c1']);
  });
});

describe('The report of a run that has not ended', () => {
  test('covers the recorded part, with episodes of the last iteration', async () => {
    const { log: _log, summary: _summary, evaluation: _evaluation, ...going } = wholeRun;
    const run = writeRun(folder, 'going', {
      ...going,
      train: [
        { iteration: 1, episode: toldEpisode({ taskId: 'old', success: true }) },
        { iteration: 2, episode: toldEpisode({ taskId: 'new', success: true }) },
      ],
    });
    const { words, document } = await reportPage({ runs: [run] });
    expect(words[1]).toBe('No evaluation is recorded so far.');
    expect(words[2]).toMatch(
      /no summary\.json: it is still running, or ended.* 2 iterations so far/,
    );
    expect(words.find((one) => one.startsWith('Episodes of'))).toContain(
      'the last training iteration (2), because the run has no evaluation after training',
    );
    expect(document.querySelector('article .about')?.textContent).toContain('train/2/0/1/0 of new');
    expect(words).toContain('Not solved: no episodes.');
    expect(words).toContain('The run logged no warnings or errors.');
  });

  test.each([
    [
      'resumed',
      { summary: { ...summary(3), iterations: 1 } },
      /earlier session, which ended at iteration 1\. .* resumed and has recorded 2 iterations/,
    ],
    [
      'stopped',
      { summary: { ...summary(3), interrupted: true } },
      /^The run was interrupted after 2 iterations\.$/,
    ],
    [
      'control',
      { config: config.replace('mode: rl', 'mode: rl, control: shuffled-rewards') },
      /is a control and must not learn \(train\.control: shuffled-rewards\)/,
    ],
  ])('says what it is: %s', async (name, changed, said) => {
    const run = writeRun(folder, name, { ...wholeRun, ...changed });
    expect((await reportPage({ runs: [run] })).words[2]).toMatch(said);
  });
});

test('episodes that the system failed are counted, with what the rate could be', async () => {
  const { eval: evaluations, ...rest } = summary(3);
  const failed = { failed: 1, failedShare: 0.2, systemFailures: 1, worstCase: [0.6, 0.8] };
  const after = { ...evaluations.after, ...failed };
  const run = writeRun(folder, 'failing', {
    ...wholeRun,
    summary: { ...rest, eval: { ...evaluations, after } },
  });
  const { rows } = await reportPage({ runs: [run] });
  expect(rows.filter(([name]) => name?.startsWith('All')).map((row) => row.slice(1, 3))).toEqual([
    ['1 of 4 = 25.0 % [5.0, 70.0]', '3 of 4 = 75.0 % [30.0, 95.0], 1 failed (20.0 %)'],
    ['25.0 to 25.0 %', '60.0 to 80.0 %'],
  ]);
});

test('a supervised run has the curve of its loss', async () => {
  const run = writeRun(folder, 'sft', {
    config: 'run: {seed: 7}\ntrain: {mode: sft}\n',
    summary: { iterations: 2, conversations: 30, tokens: 4000, interrupted: false },
    metrics: [
      { 'train/loss': 2.5, 'train/accuracy': 0.25 },
      { 'train/loss': 0.5, 'train/accuracy': 0.75 },
    ],
  });
  const { words, document } = await reportPage({ runs: [run] });
  expect(words[0]).toBe('Supervised training, 2 steps, seed 7.');
  expect(words[1]).toMatch(
    /on 30 conversations with 4,000 tokens: .* 2\.5000 .* 0\.5000 at step 2/,
  );
  expect(document.querySelector('desc')?.textContent).toBe(
    'Loss. sft: from 2.5 at step 1 to 0.5 at step 2',
  );
  expect(words.join(' ')).not.toContain('controls');
});
