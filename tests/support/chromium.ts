import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';

import { packageRoot } from '#agent_rl/core/package-root.ts';

const places = [
  process.env['CHROMIUM'],
  ...['chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`),
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const executable = places.find((place) => place !== undefined && existsSync(place));

/** Whether there is one: `apt-get install chromium`, or `CHROMIUM=PATH`. */
export const hasChromium = executable !== undefined;

/** A browser that is started when it is first asked for, and closed after the tests of the file. */
export function browser(): () => Promise<Browser> {
  let started: Promise<Browser> | undefined;
  afterAll(async () => (await started)?.close());
  return () => (started ??= launch());
}

async function launch(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    ...(executable !== undefined && { executablePath: executable }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

/** What a page did that none should: errors, refused content, dialogues. */
export async function complaintsOf(page: Page): Promise<readonly string[]> {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.exposeFunction('complain', (text: string) => void complaints.push(text));
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    complain(event.violatedDirective + ' refuses ' + event.blockedURI))`);
  return complaints;
}

/** Faults of a page that keep people out, as axe-core finds them. */
export async function seriousFaults(page: Page): Promise<readonly string[]> {
  // Not as an element of the page: its policy refuses scripts from elsewhere.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run({ preload: false })')) as {
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}\n${nodes[0]?.failureSummary}`);
}

/** Keeps what a page looks like, below `.cache/view-screenshots`. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = join(packageRoot(), '.cache', 'view-screenshots');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
