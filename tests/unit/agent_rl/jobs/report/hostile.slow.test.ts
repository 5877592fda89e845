import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';

import type { ReportFormat } from '#agent_rl/jobs/report/report-formats.ts';
import { reportRuns } from '#agent_rl/jobs/report/report-runs.ts';
import { openSegment } from '#agent_rl/runs/journal/segments.ts';
import { brokenFrame, eventsOf } from '#tests/support/journal.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { toldEpisode, writeRun } from '#tests/support/written-run.ts';

const folder = temporaryFolder();

/** Texts that would be markup, or move a cursor, where they are not shown as text. */
const attacks = [
  '<script>alert(1)</script>',
  '</pre></div><img src=x onerror="alert(2)">',
  '<svg onload=alert(3)><style>*{display:none}</style>',
  '"><a href="javascript:alert(4)">here</a>',
  "' onmouseover='alert(5)",
  '<!-- <!doctype html> ]]> &lt;b&gt; &#60;',
  '\n\nfirst lines are empty',
];
const allowed =
  'html head meta title style body header main nav section article figure div p h1 h2 h3 a table thead tbody tr th td pre svg desc text line path circle'.split(
    ' ',
  );
const hidden = '\u001b[2J\u0007 \u202egnihton \u0000';
const shown = '\\x1b[2J\\x07 \\u202egnihton \\x00';

const episode = (...of: Parameters<typeof toldEpisode>) => [
  { when: 'after', iteration: 1, episode: toldEpisode(...of) } as const,
];
type Page = ReturnType<typeof parseHTML>['document'];
const entriesOf = (page: Page): (string | null)[] =>
  [...page.querySelectorAll('.entry pre')].map(({ textContent }) => textContent);

const reportOf = async (run: string, format: ReportFormat = 'html'): Promise<string> => {
  const out = join(folder, `report.${format}`);
  await reportRuns({ runs: [run], format, out, print: () => undefined });
  return readFileSync(out, 'utf8');
};

let runs = 0;
const hostile = (text: string) =>
  writeRun(folder, `run"><script>${(runs += 1)}`, {
    log: `2026-11-26T01:18:23.143Z warn ${text.replaceAll('\n', ' ')}\n`,
    metrics: [{ 'rollout/rewardMean': 1 }],
    evaluation: episode({
      taskId: text,
      success: true,
      question: text,
      thought: text,
      answer: text,
      calls: [{ code: text, output: text, failed: true }],
    }),
  });

describe("A model's text", () => {
  test.each(attacks)('is text in the page: %j', async (attack) => {
    const { document } = parseHTML(await reportOf(hostile(attack)));
    const elements = [...document.querySelectorAll('*')];
    expect(elements.filter(({ localName }) => !allowed.includes(localName))).toEqual([]);
    const attributes = elements.flatMap((element) => element.getAttributeNames());
    expect(attributes.filter((name) => /^on|^src|^style$/.test(name))).toEqual([]);
    expect(document.querySelectorAll('style')).toHaveLength(1);
    // A browser leaves out the line feed that a <pre> begins with; this parser keeps it.
    const entries = entriesOf(document).map((text) => text?.replace(/^\n(?=\n)/, ''));
    expect(entries).toEqual(Array(5).fill(attack));
    expect(document.querySelector('article .about')?.textContent).toContain(
      `after/1/0/0/0 of ${attack}`,
    );
  });

  test('shows control characters, and those that turn the direction of text', async () => {
    const { document } = parseHTML(await reportOf(hostile(hidden)));
    expect(entriesOf(document)).toEqual(Array(5).fill(shown));
  });

  test('stays in its fence in Markdown', async () => {
    const attack = 'out\n```\n# heading\n````\n![](http://evil.example/x.png)<img src=x>';
    const text = await reportOf(hostile(attack), 'md');
    const fence = '`````';
    const [, inside] = new RegExp(`\n${fence}text\n(.*?)\n${fence}\n`, 's').exec(text) ?? [];
    expect(inside).toContain('  # heading\n  ````\n  ![](http://evil.example/x.png)<img src=x>');
    const outside = text.replaceAll(/\n(`{3,})text\n.*?\n\1(?=\n)/gs, '');
    expect(outside).not.toMatch(/^# heading|[^\\]<img|[^\\]\[\\?\]\(/m);
  });

  test('is cut where it is very long, with the number of missing characters', async () => {
    const run = hostile('x'.repeat(10 * 2 ** 20));
    const text = await reportOf(run);
    // Each of five texts, the task in the line above them, and the warning.
    expect(Buffer.byteLength(text)).toBeLessThan(100_000);
    const { document } = parseHTML(text);
    const [entry] = entriesOf(document);
    expect(entry?.replace(/^x{4000}/, '')).toBe('… [10,481,760 more characters left out]');
  });

  test('may hold bytes that are not UTF-8', async () => {
    const run = hostile('a@@b');
    const events = await eventsOf(run);
    const { file } = openSegment(join(run, 'journal'), 0);
    writeFileSync(file, Buffer.concat(events.map(brokenFrame)));
    const { document } = parseHTML(await reportOf(run));
    expect(entriesOf(document)[0]).toBe('a\ufffd\ufffdb');
  });

  test('is cut where it has very many messages', async () => {
    const calls = Array.from({ length: 5000 }, () => ({ code: 'c'.repeat(9000), output: 'o' }));
    const evaluation = episode({ taskId: 'long', success: true, calls });
    const text = await reportOf(writeRun(folder, 'many', { evaluation }));
    expect(Buffer.byteLength(text)).toBeLessThan(2 ** 20);
    // A question, 10,000 of calls and results, and an answer: 80 are shown.
    expect(entriesOf(parseHTML(text).document).at(-1)).toBe(
      '9922 further entries of this episode are not shown.',
    );
  });
});
