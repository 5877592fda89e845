import { chromium as browserType } from 'playwright-core';

import { linuxRow } from '../../../agent_rl/telemetry/process-tree.ts';

/** A page with all episodes of a run. */
export interface TabReport {
  /** From opening the page to its first rows. */
  firstRowsS: number;
  /** From choosing a filter to the rows that match. */
  filterS: number;
  /** Memory of JavaScript, and of the process that shows the page, after paging to the end of the list. */
  heapBytes: number;
  rssBytes: number;
}

/** Opens the list of a run's episodes in a browser, filters it, and pages to its end. */
export async function measureTab(
  url: URL,
  { run, chromium }: { run: string; chromium: string },
): Promise<TabReport> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  const browser = await browserType.launch({ executablePath: chromium, args });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const opened = performance.now();
    await page.goto(`${url.href}#/runs/${run}/episodes`);
    const rows = page.locator('table.episodes tbody tr');
    await rows.first().waitFor();
    const firstRowsS = since(opened);
    const chosen = performance.now();
    await page.getByLabel('solved').selectOption('false');
    await page.getByText(/that match, of/).waitFor();
    const filterS = since(chosen);
    await page.getByLabel('solved').selectOption('');
    await rows.first().waitFor();
    const next = page.getByRole('button', { name: 'next →' });
    while (await next.isEnabled()) {
      const before = await page.locator('.pager [role=status]').innerText();
      await next.click();
      await page.waitForFunction(
        `document.querySelector('.pager [role=status]').innerText !== ${JSON.stringify(before)}`,
      );
    }
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    await session.send('Performance.enable');
    const { metrics } = await session.send('Performance.getMetrics');
    const heapBytes = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
    const whole = await browser.newBrowserCDPSession();
    const { processInfo } = await whole.send('SystemInfo.getProcessInfo');
    const shown = processInfo
      .filter(({ type }) => type === 'renderer')
      .flatMap(({ id }) => linuxRow(String(id)));
    const rssBytes = shown.reduce((most, row) => Math.max(most, row.rssBytes), 0);
    return { firstRowsS, filterS, heapBytes, rssBytes };
  } finally {
    await browser.close();
  }
}

const since = (startMs: number): number => (performance.now() - startMs) / 1000;
