import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { readLogExcerpt } from '#agent_rl/jobs/report/read/log-excerpt.ts';
import { withReport } from '#agent_rl/jobs/report/with-report.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { writeRun } from '#tests/support/written-run.ts';

const folder = temporaryFolder();
const run = runFolderAt(join(folder, 'run'));
const printed: string[] = [];
const print = (text: string): void => void printed.push(text);

beforeEach(() => {
  printed.length = 0;
  rmSync(run.path, { recursive: true, force: true });
  writeRun(folder, 'run', {});
});

describe('the report at the end of a session', () => {
  test('is written when the session has closed its files, and is among its results', async () => {
    const result = await withReport(print, async (began) => {
      began(run);
      await Promise.resolve();
      writeBelow(run.path, 'run.log', '2026-11-26T01:18:23.143Z warn the last line\n');
      return { iterations: 2 };
    });
    expect(result).toEqual({ iterations: 2, report: run.report });
    expect(printed).toEqual([`Report: ${run.report}`]);
    expect(readFileSync(run.report, 'utf8')).toContain('warn: the last line');
  });

  test('is left by a session that fails, whose failure is thrown', async () => {
    const failure = new Error('the disk is full');
    const session = withReport(print, (began) => {
      began(run);
      return Promise.reject(failure);
    });
    await expect(session).rejects.toBe(failure);
    expect(existsSync(run.report)).toBe(true);
  });

  test('that cannot be written is a warning', async () => {
    mkdirSync(run.report);
    const result = await withReport(print, (began) => {
      began(run);
      return Promise.resolve({ iterations: 2 });
    });
    expect(result).toEqual({ iterations: 2 });
    expect(printed).toHaveLength(1);
    expect(printed[0]).toMatch(
      /^Warning: the report could not be written: --out .*report.html is a folder/,
    );
  });

  test('is not written of a session that made no run', async () => {
    const session = withReport(print, () => Promise.reject(new Error('a bad config')));
    await expect(session).rejects.toThrow('a bad config');
    expect(printed).toEqual([]);
  });
});

test('of a long log the newest problems are kept, and how many older ones there are', async () => {
  const lines = Array.from(
    { length: 30 },
    (_, index) =>
      `2026-11-26T01:18:${10 + index}.000Z ${index === 29 ? 'error' : 'warn'} no ${index}`,
  );
  const file = writeBelow(folder, 'long.log', lines.join('\n'));
  const { problems, older, began, ended } = await readLogExcerpt(file);
  expect(problems).toHaveLength(20);
  expect([problems[0], problems.at(-1)]).toEqual(['warn: no 10', 'error: no 29']);
  expect([older, began, ended]).toEqual([
    10,
    '2026-11-26T01:18:10.000Z',
    '2026-11-26T01:18:39.000Z',
  ]);
});
