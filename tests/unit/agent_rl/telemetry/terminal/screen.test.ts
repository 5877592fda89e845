import { describe, expect, jest, test } from '@jest/globals';

import { type Panel, Screen } from '#agent_rl/telemetry/terminal/screen.ts';
import { EmulatedTerminal, type EmulatedSize } from '#tests/support/emulated-terminal.ts';

function setUp(size: EmulatedSize = {}, panel: Panel = { lines: () => ['one', 'two'] }) {
  const terminal = new EmulatedTerminal(size);
  // What is written to stdout appears on the same terminal.
  const { write } = terminal;
  const stdout = { isTTY: true, write };
  let time = 0;
  const screen = new Screen({ terminal, besides: [stdout], clock: () => time });
  const wait = (milliseconds: number) => void (time += milliseconds);
  return { terminal, stdout, screen, wait, shown: screen.show(panel) };
}

const logLine = (index: number): string => `line ${index} ${'word '.repeat((index * 7) % 40)}end`;

describe('A screen with a panel', () => {
  test('holds each line of two streams whole and once, and the panel once below them, whatever the widths', async () => {
    let state = 0;
    const { terminal, stdout, shown, wait } = setUp(
      { columns: 110, rows: 20 },
      { lines: (columns) => [`state ${state}`, '='.repeat(columns), 'last'] },
    );
    const widths = [80, 60, 110, 40, 97];
    for (let index = 0; index < 200; index++) {
      (index % 3 === 0 ? stdout : terminal).write(`${logLine(index)}\n`);
      state = index;
      wait(30);
      shown.changed();
      if (index % 40 === 39) await terminal.resize(widths[(index - 39) / 40] ?? 80);
    }
    wait(100);
    shown.changed();
    const lines = await terminal.linesShown();
    expect(lines.slice(0, 200)).toEqual(Array.from({ length: 200 }, (_, index) => logLine(index)));
    // The terminal is 97 wide, and one column stays free.
    expect(lines.slice(200)).toEqual(['state 199', '='.repeat(96), 'last']);
    shown.remove();
    expect(await terminal.linesShown()).toHaveLength(200);
  });

  test('cuts lines of a panel that are too wide, and a panel that is too high', async () => {
    const { terminal } = setUp(
      { columns: 10, rows: 3 },
      { lines: () => ['0123456789abc', '日本語日本語', 'not shown'] },
    );
    expect(await terminal.rowsShown()).toEqual(['01234567…', '日本語日…']);
  });

  test('holds a line that has begun until it has ended', async () => {
    const { terminal, shown } = setUp();
    terminal.write('half a li');
    expect(await terminal.linesShown()).toEqual(['one', 'two']);
    terminal.write('ne\nand ');
    expect(await terminal.linesShown()).toEqual(['half a line', 'one', 'two']);
    shown.remove();
    expect(await terminal.linesShown()).toEqual(['half a line', 'and']);
  });

  test('shows what could move the cursor as text, keeps colours to their line, and survives broken UTF-8', async () => {
    const { terminal } = setUp();
    terminal.write('\u001B[2Jgone? \u001B]0;title\u0007 \rback\n');
    terminal.write(Buffer.from([0x61, 0xff, 0xc3, 0x0a]));
    terminal.write('\u001B[31mred\r\n');
    const shown = [String.raw`\x1b[2Jgone? \x1b]0;title\x07 \x0dback`, 'a\uFFFD\uFFFD', 'red'];
    expect(await terminal.linesShown()).toEqual([...shown, 'one', 'two']);
    expect(terminal.bytes).toContain('\u001B[31mred\n\u001B[0m');
  });

  test('draws at most ten times a second', async () => {
    jest.useFakeTimers();
    try {
      let [state, drawn] = [0, 0];
      const lines = () => [`state ${state}, drawn ${(drawn += 1)}`];
      const { shown, wait } = setUp({}, { lines });
      // 2 s of a change each 5 ms.
      for (; state < 400; state++) {
        shown.changed();
        wait(5);
        jest.advanceTimersByTime(5);
      }
      expect(drawn).toBeLessThanOrEqual(24);
      expect(drawn).toBeGreaterThan(15);
      shown.remove();
    } finally {
      jest.useRealTimers();
    }
  });

  test('gives the streams back as they were, also where others have replaced their write meanwhile', async () => {
    const terminal = new EmulatedTerminal();
    const { write } = terminal;
    const first = new Screen({ terminal }).show({ lines: () => ['panel'] });
    const ours = terminal.write;
    expect(ours).not.toBe(write);
    const theirs = (text: string | Uint8Array) => ours(text);
    terminal.write = theirs;
    first.remove();
    expect(terminal.write).toBe(theirs);
    terminal.write('no newline');
    expect(await terminal.linesShown()).toEqual(['no newline']);

    const plain = new EmulatedTerminal();
    const { write: before } = plain;
    new Screen({ terminal: plain }).show({ lines: () => ['panel'] }).remove();
    expect(plain.write).toBe(before);
    expect(plain.listenerCount('resize')).toBe(0);
  });

  test('stacks panels, and removes all at once when the process ends', async () => {
    const { terminal, screen } = setUp();
    screen.show({ lines: () => ['three'] });
    expect(await terminal.linesShown()).toEqual(['one', 'two', 'three']);
    screen.clear();
    expect(await terminal.linesShown()).toEqual([]);
    terminal.write('after\n');
    expect(await terminal.linesShown()).toEqual(['after']);
    // The cursor is never hidden, so that nothing can leave it hidden.
    expect(terminal.bytes).not.toContain('[?25l');
  });

  test('leaves a stream alone that is not a terminal', () => {
    const terminal = new EmulatedTerminal();
    const write = (): boolean => true;
    const piped = { isTTY: false, write };
    new Screen({ terminal, besides: [piped] }).show({ lines: () => ['panel'] });
    expect(piped.write).toBe(write);
  });

  test('calls the callback of a write when it is written', async () => {
    const { terminal, shown } = setUp();
    const stream = terminal as unknown as NodeJS.WriteStream;
    await new Promise<void>((resolve) => stream.write('a\n', () => resolve()));
    await new Promise<void>((resolve) => stream.write('b\n', 'utf8', () => resolve()));
    shown.remove();
    expect(await terminal.linesShown()).toEqual(['a', 'b']);
  });
});
