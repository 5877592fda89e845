import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { config, reportPage, summary, wholeRun } from '#tests/support/report-page.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { toldEpisode, writeRun } from '#tests/support/written-run.ts';

const folder = temporaryFolder();

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
  const rate = config.replace('beta1: 0.9', 'beta1: 0.8');
  test.each([
    ['on other tasks', { inputs: { sha256: tasks } }, /evaluated on different tasks, so no mean/],
    [
      'with other settings',
      { config: rate },
      /differ in more than their seed \(train\.beta1\), so/,
    ],
  ])('gives a reason instead of a mean for runs %s', async (name, changed, why) => {
    const other = writeRun(folder, `several/${name}`, { ...wholeRun, ...changed });
    const { rows, words } = await reportPage({ runs: [runs[0] ?? '', other] });
    expect(words[1]).toMatch(why);
    expect(rows.flat()).not.toContain('mean (range)');
  });

  test('refuses one run given twice', async () => {
    const [run = ''] = runs;
    const refused = reportPage({ runs: [run, `${run}/`] });
    expect(await rejectionOf(refused)).toMatchObject(
      errorOf('CONFIG_INVALID', `${run}/ is named twice.`),
    );
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

test('a folder that is no run is refused, and nothing is written', async () => {
  const out = join(folder, 'nothing.html');
  const refused = reportPage({ runs: [join(folder, 'nowhere')], out });
  expect(await rejectionOf(refused)).toMatchObject({ code: 'CHECKPOINT_INVALID' });
  expect(existsSync(out)).toBe(false);
});
