import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { playBranching } from '../../support/branching-agent.ts';
import { builtProgram, startProgram, type StartedProgram } from '../../support/built-program.ts';
import {
  browser,
  complaintsOf,
  hasChromium,
  keepScreenshot,
  seriousFaults,
} from '../../support/chromium.ts';
import { episodeEvent, record, recordedFolder } from '../../support/recorded-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { hostile, startTraining, writeHostileRun } from '../../support/viewed-runs.ts';

/*
 * The page as its readers meet it: a real browser, the built server, runs that are really trained. The tests follow each
 * other on the same runs, the first while one of them trains.
 */

const title =
  'The page of agent-rl view (skipped without Chromium: apt-get install chromium, or CHROMIUM=PATH)';

(hasChromium ? describe : describe.skip)(title, () => {
  const project = temporaryFolder();
  const runFolder = (name: string): string => join(project, 'runs', name);
  const opened = browser();
  let server: StartedProgram;
  let address = '';
  let first: StartedProgram;
  let live: StartedProgram;

  beforeAll(async () => {
    first = startTraining(project, 'first', 'train.learningRate=1e-3');
    live = startTraining(project, 'live', 'train.iterations=4', 'train.learningRate=2e-3');
    await live.wrote(/Prompts: /);
    server = startProgram('agent-rl', ['view', '--port', '0'], project, {
      timeoutMs: 600_000,
    });
    address = await server.wrote(/http:\S+/);
  });
  afterAll(async () => {
    for (const program of [first, live, server]) program.interrupt();
    await Promise.all([first, live, server].map(({ ended }) => ended));
  });

  interface Visit {
    page: Page;
    complaints: readonly string[];
  }

  async function visit(hash: string, isDark = false, width = 1280): Promise<Visit> {
    const [viewport, colorScheme] = [{ width, height: 900 }, isDark ? 'dark' : 'light'] as const;
    const context = await (await opened()).newContext({ viewport, colorScheme });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints = await complaintsOf(page);
    await page.goto(`${address}${hash}`);
    return { page, complaints };
  }

  async function leave({ page, complaints }: Visit): Promise<void> {
    expect(await seriousFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  }

  test('the overview follows a training run to its end without a reload', async () => {
    const seen = await visit('#/runs/live');
    const { page } = seen;
    const figures = page.locator('.figures tbody');
    await figures.getByText('training', { exact: true }).waitFor();
    await page.evaluate('globalThis.neverLoadedAgain = true');
    await page.getByRole('img', { name: /^Reward\..*at iteration \d/ }).waitFor();
    await figures.getByText('finished').waitFor();
    await figures.getByText('4 of 4').waitFor();
    await page.getByRole('img', { name: /^Reward\..*at iteration 4$/ }).waitFor();
    expect(await page.evaluate('globalThis.neverLoadedAgain')).toBe(true);
    await keepScreenshot(page, 'overview');
    await leave(seen);
    expect(await live.ended).toMatchObject({ code: 0 });
    expect(await first.ended).toMatchObject({ code: 0 });
  });

  test('the reader filters to failed episodes, opens one by a click on its row, and sees the token under the mouse', async () => {
    const seen = await visit('#/runs/live');
    const { page } = seen;
    await page.getByRole('link', { name: /^Episodes/ }).click();
    await page.getByLabel('solved').selectOption('false');
    const rows = page.locator('table.episodes tbody tr');
    await page.getByText(/that match, of/).waitFor();
    const outcomes = await rows.locator('.outcome').allInnerTexts();
    expect(outcomes.length).toBeGreaterThan(0);
    expect(outcomes.filter((text) => !text.startsWith('✗'))).toEqual([]);
    await keepScreenshot(page, 'episodes');
    await rows.first().locator('.outcome').click();
    await page.getByRole('heading', { name: /^turn 1/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText(/that match, of/).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^turn 1/ }).waitFor();
    await keepScreenshot(page, 'episode');
    await page.getByRole('tab', { name: 'tokens' }).click();
    await page.locator('.tokens .token.source-sampled').nth(2).hover();
    const tip = page.locator('.tip');
    const facts = 'token,id,source,log p when sampled,log p in training,ratio,advantage';
    expect(await tip.locator('dt').allInnerTexts()).toEqual(
      expect.arrayContaining([...facts.split(','), 'weight in the loss']),
    );
    await page.locator('.tokens .token.source-template').first().hover();
    await tip.getByText('The policy did not write this token (template).').waitFor();
    await page.getByRole('radio', { name: 'log-probability' }).check();
    await page.getByRole('listbox', { name: 'Tokens' }).focus();
    await page.keyboard.press('ArrowRight');
    await tip.getByText(/position 1$/).waitFor();
    await keepScreenshot(page, 'tokens');
    await page.keyboard.press('s');
    await page
      .getByText(/diverges at token \d+|identical/)
      .first()
      .waitFor();
    await keepScreenshot(page, 'siblings');
    await page.keyboard.press('Escape');
    await page.getByText(/that match, of/).waitFor();
    await leave(seen);
  });

  test('the turns of an agent with its own loop are a tree that leads to their sequences', async () => {
    const model = { path: join(packageRoot(), 'model', 'mixed-starter') };
    const branching = recordedFolder(join(project, 'runs'), 'branching', { model });
    const played = await playBranching(hostile.markup);
    record(branching, episodeEvent({ iteration: 1, reward: 1, ...played }));
    const seen = await visit('#/runs/branching/episodes/train/1/0/0/0');
    const { page } = seen;
    await page.getByText(/5 of 5 answers reached.*thoughts 1, history 1/).waitFor();
    const tree = page.getByRole('navigation', { name: 'Turns' });
    expect(await tree.getByRole('button').allInnerTexts()).toHaveLength(5);
    await page.getByRole('heading', { name: /^turn 3/ }).waitFor();
    const turns = await tree.getByRole('button', { name: /^turn 1: / }).all();
    await turns[0]?.click();
    await page.getByText('sequence 1 up to turn 1').waitFor();
    expect(await page.locator('.stretch').innerText()).toContain(hostile.markup);
    expect(await page.evaluate('globalThis.taken')).toBe(undefined);
    await keepScreenshot(page, 'turns');
    await page.getByRole('tab', { name: 'tokens' }).click();
    expect(await page.getByLabel('sequence').inputValue()).toBe('0');
    await leave(seen);
  });

  test('the comparison of two runs shows results first, then settings and curves', async () => {
    const seen = await visit('#/runs/first');
    const { page } = seen;
    await page.getByRole('checkbox', { name: 'Overlay live on the charts' }).check();
    await page.getByRole('link', { name: 'Compare' }).click();
    const row = page.getByRole('row', { name: /^train\.learningRate/ });
    await row.waitFor();
    expect(await row.getByRole('cell').allInnerTexts()).toEqual(['0.001', '0.002']);
    await page.getByRole('row', { name: /^train\.iterations/ }).waitFor();
    await page.getByRole('img', { name: /^Reward\. first: .*; live: / }).waitFor();
    const order = await page.locator('.figures, .differences, .charts').all();
    const classes = await Promise.all(order.map((one) => one.getAttribute('class')));
    expect(classes.slice(0, 3)).toEqual(['figures', 'differences', 'charts']);
    await keepScreenshot(page, 'compare');
    await leave(seen);
  });

  test.each([
    ['#/runs/live', 'Learning'],
    ['#/runs/live/episodes', 'Episodes'],
    ['#/runs/live/tasks', 'Tasks'],
    ['#/runs/live/run', 'Settings'],
  ])('%s has no serious fault in the dark theme and on a small screen', async (hash, region) => {
    const seen = await visit(hash, true, 800);
    await seen.page.getByRole('region', { name: region }).first().waitFor();
    if (region === 'Episodes') await seen.page.locator('.scroll-frame.cut').waitFor();
    await keepScreenshot(seen.page, `dark-${region.toLowerCase()}`);
    await leave(seen);
  });

  test('keys do what the mouse does', async () => {
    const seen = await visit('#/runs/live');
    const { page } = seen;
    await page.getByRole('heading', { name: 'Learning' }).waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keys' });
    await help.waitFor();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('2');
    await page.getByText(/^1–\d+ of/).waitFor();
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('episode-search');
    await page.keyboard.type('print');
    await page.getByText(/found; searched \d+ of \d+ episodes/).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    const heading = page.locator('.episode-head h2');
    await heading.waitFor();
    const before = await page.evaluate('location.hash');
    await page.keyboard.press(']');
    await page.waitForFunction(`location.hash !== ${JSON.stringify(before)}`);
    await leave(seen);
  });

  test('hostile text is shown as text', async () => {
    await writeHostileRun(runFolder('first'), runFolder('hostile'));
    const seen = await visit('#/runs/hostile/episodes?when=train');
    const { page } = seen;
    await page.getByText(/^1–\d+ of/).waitFor();
    await keepScreenshot(page, 'hostile');
    await page.locator('table.episodes tbody a').first().click();
    const { markup } = hostile;
    const said = page.locator('.message pre').first();
    expect(await said.innerText()).toBe(`${markup}\\x1b[2J\\x1b]0;taken\\x07safe\\u202etxt.exe`);
    expect(await page.locator('.episode-head h2').innerText()).toContain(hostile.name);
    await page.keyboard.press(']');
    await page.getByRole('button', { name: /Show in full/ }).click();
    await page
      .getByRole('button', { name: /Show 1,000,000 more of 10,000,000/ })
      .first()
      .click();
    await page.waitForFunction(
      `document.querySelector('.message pre').textContent.length > 1_000_000`,
    );
    await page.keyboard.press(']');
    await page.getByText('broken\ufffd').first().waitFor();
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    await leave(seen);
  });

  test('an export opens from the file system', async () => {
    const target = join(project, 'exported');
    const { code, stderr } = builtProgram(
      'agent-rl',
      ['view', runFolder('first'), '--export', target],
      project,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const start = readdirSync(target).find((name) => name.endsWith('.html')) ?? '';
    address = pathToFileURL(join(target, start)).href;
    const seen = await visit('#/runs/first/episodes?when=train&success=false');
    await seen.page.getByText(/that match, of/).waitFor();
    await seen.page.locator('table.episodes tbody a').first().click();
    await seen.page.getByRole('heading', { name: /^turn 1/ }).waitFor();
    await seen.page.keyboard.press('1');
    await seen.page.getByRole('heading', { name: 'Optimisation' }).waitFor();
    await leave(seen);
  });
});
