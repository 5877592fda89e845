import { describe, expect, test } from '@jest/globals';
import stringWidth from 'string-width';

import { consoleText } from '#agent_rl/telemetry/terminal/console-text.ts';
import { displayMode } from '#agent_rl/telemetry/terminal/display-mode.ts';
import { barText, fitLine, flow, sparkline } from '#agent_rl/telemetry/terminal/panel-text.ts';
import { tableText } from '#agent_rl/telemetry/terminal/table.ts';
import { wrapLines } from '#agent_rl/telemetry/terminal/wrap-lines.ts';
import { visibleControls } from '#agent_rl/telemetry/index.ts';
import * as fc from '#tests/support/properties.ts';

describe('Text on a console', () => {
  test('has control characters spelt out, also of text direction, and keeps lines and tabs', () => {
    expect(consoleText('a\tb\n\u001B[31mc\u009B2J<script>\u202eb\u2066')).toBe(
      'a\tb\n' + String.raw`\x1b[31mc\x9b2J<script>\u202eb\u2066`,
    );
  });

  test('says how much of a line is left out, and where all of it is', () => {
    const line = 'x'.repeat(10_000_000);
    const [first, second] = consoleText(`${line}\nnext`, 'run.log').split('\n');
    expect(first).toBe(`${'x'.repeat(2000)}… (9998000 more characters, all in run.log)`);
    expect(second).toBe('next');
    // A character of two code units is not cut in half.
    expect(consoleText(`${'x'.repeat(1999)}😀yy`)).toBe(`${'x'.repeat(1999)}… (4 more characters)`);
  });
});

describe('The display', () => {
  const terminal = { isTTY: true, write: () => true };
  test.each([
    [{}, 'panel'],
    [{ TERM: 'xterm-256color' }, 'panel'],
    [{ NO_COLOR: '1' }, 'lines'],
    // The convention: set and not empty.
    [{ NO_COLOR: '' }, 'panel'],
    [{ TERM: 'dumb' }, 'lines'],
    [{ CI: 'true' }, 'lines'],
    [{ CI: 'false' }, 'panel'],
    [{ CI: 'true', FORCE_COLOR: '1' }, 'panel'],
    [{ CI: 'true', FORCE_COLOR: '0' }, 'lines'],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, 'lines'],
  ])('is, on a terminal with %j, %s', (environment, mode) => {
    expect(displayMode({ stream: terminal, environment })).toBe(mode);
  });

  test('is lines in a pipe, and nothing with quiet', () => {
    expect(displayMode({ stream: { write: () => true }, environment: {} })).toBe('lines');
    expect(displayMode({ stream: terminal, environment: {}, quiet: true })).toBe('none');
  });
});

describe('A panel', () => {
  test('a bar is as full as the share says, and no fuller than full', () => {
    expect(barText(0.5, 8)).toBe('████░░░░');
    expect(barText(7, 4)).toBe('████');
    expect(barText(-1, 4)).toBe('░░░░');
  });

  test('a sparkline goes from 0, or a smaller value, to the largest, with gaps for what was not measured', () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7])).toBe('▁▂▃▄▅▆▇█');
    expect(sparkline([-2, undefined, 6, Number.NaN])).toBe('▁ █ ');
    expect(sparkline([3, 3, 1.5])).toBe('██▅');
    expect(sparkline([0, 0])).toBe('▁▁');
    expect(sparkline([])).toBe('');
    // A quarter of eight levels is the third.
    expect(sparkline([0.25, 2], { low: 0, high: 1 })).toBe('▃█');
  });

  test('parts that do not fit start a new line', () => {
    expect(flow(['aaa', 'bbb', 'ccc'], 8)).toEqual(['aaa  bbb', 'ccc']);
    expect(flow([], 8)).toEqual([]);
  });

  test('a line never takes more columns than there are, whatever is in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1, max: 40 }),
        (line, columns) => {
          const fitted = fitLine(line, columns);
          expect(stringWidth(fitted)).toBeLessThanOrEqual(columns);
          expect(visibleControls(fitted)).toBe(fitted);
          expect(fitted).not.toMatch(/[\n\t]/);
        },
      ),
    );
  });
});

describe('Text wrapped for a terminal', () => {
  test.each([
    [
      'an indented line between words, below what follows its label',
      '  memory    about 64 MiB: weights 8 MiB, cache 20 MiB, runtime',
      '  memory    about 64 MiB: weights 8 MiB,\n            cache 20 MiB, runtime',
    ],
    ['a line without indentation not at all', `Report: ${'/folder'.repeat(9)}`, undefined],
    ['a line with a word that is too long not within it', `  ${'x'.repeat(60)}`, undefined],
    [
      'a table as a list of its cells',
      tableText([
        ['success', 'before', 'after'],
        ['total', '41 of 260 = 15.8 %', '202 of 260 = 77.7 %'],
        ['long', '-', '1 of 2'],
      ]),
      '  success\n  total\n    before  41 of 260 = 15.8 %\n    after   202 of 260 = 77.7 %\n  long\n    before  -\n    after   1 of 2',
    ],
    [
      'a table that fits not at all',
      tableText(['abc', 'def'].map((row) => row.split(''))),
      undefined,
    ],
  ])('breaks %s', (_, text, expected = text) => {
    expect(wrapLines(text, 44)).toBe(expected);
  });
});
