import ansiEscapes from 'ansi-escapes';
import { onExit } from 'signal-exit';
import stringWidth from 'string-width';

import { besidePanel } from './console-text.ts';
import type { Terminal } from './display-mode.ts';
import { InterceptedWrites } from './intercepted-writes.ts';
import { fitLine } from './panel-text.ts';
import { takenDown } from './taken-down.ts';

/** What stands at the bottom of a terminal: a few lines. */
export interface Panel {
  /** Those that do not fit are cut. */
  lines(columns: number): readonly string[];
}

/** A panel that is up. */
export interface ShownPanel {
  /** Draws it anew, soon. */
  changed(): void;
  /** Removes it; what was written meanwhile stays. */
  remove(): void;
}

/** At most ten times a second. */
const drawEveryMs = 100;
/** So that times go on while nothing happens. */
const tickMs = 1000;
const resetStyle = '\u001B[0m';

interface ScreenStreams {
  /** Where panels are drawn: stderr. */
  terminal: Terminal;
  /** Others that are shown by the same terminal: stdout. */
  besides?: readonly Terminal[];
  /** Milliseconds. */
  clock?: () => number;
}

/**
 * The owner of a terminal. While a panel is up, whatever the process writes to the terminal, libraries and plugins
 * included, passes through here and stands whole above the panel, a line that has begun only once it has ended. Without a
 * panel nothing is touched. The cursor is never hidden, so that no way to end the process can leave it so; it waits on the
 * empty line below the panel.
 */
export class Screen {
  readonly #panels = new Set<Panel>();
  /** The lines of the panel as they stand on the terminal. */
  #drawn: readonly string[] = [];
  #drawnAt = -Infinity;
  #later: NodeJS.Timeout | undefined;
  #held: { draws: InterceptedWrites; release: () => void } | undefined;

  constructor(private readonly streams: ScreenStreams) {}

  show(panel: Panel): ShownPanel {
    this.#held ??= this.#hold();
    this.#panels.add(panel);
    this.#draw();
    return {
      changed: () => {
        if (this.#panels.has(panel)) this.#drawSoon();
      },
      remove: () => {
        if (!this.#panels.delete(panel)) return;
        this.#draw();
        if (this.#panels.size === 0) this.#letGo();
      },
    };
  }

  /** Removes all panels. */
  clear(): void {
    if (this.#panels.size === 0) return;
    this.#panels.clear();
    this.#draw();
    this.#letGo();
  }

  /** Takes the streams over for as long as there are panels. */
  #hold() {
    const { terminal, besides = [] } = this.streams;
    const draws = this.#intercepted(terminal);
    const others = besides
      .filter(({ isTTY }) => isTTY === true)
      .map((stream) => this.#intercepted(stream));
    const redraw = (): void => this.#draw();
    terminal.on?.('resize', redraw);
    const ticks = setInterval(redraw, tickMs).unref();
    const clear = (): void => this.clear();
    const forgets = [onExit(clear), takenDown(clear)];
    const release = (): void => {
      clearTimeout(this.#later);
      this.#later = undefined;
      clearInterval(ticks);
      terminal.off?.('resize', redraw);
      for (const forget of forgets) forget();
      for (const writes of [draws, ...others]) writes.end();
    };
    return { draws, release };
  }

  #intercepted(stream: Terminal): InterceptedWrites {
    const writes = new InterceptedWrites(stream, (text) => this.#above(text, writes));
    return writes;
  }

  #letGo(): void {
    this.#held?.release();
    this.#held = undefined;
  }

  /** Writes lines where the panel stood, and the panel below them. */
  #above(text: string, writes: InterceptedWrites): void {
    const { draws } = this.#held ?? {};
    if (draws === undefined) return writes.raw(text);
    const styled = text.includes('\u001B[') ? resetStyle : '';
    const lines = `${besidePanel(text)}${styled}`;
    const erased = this.#erase();
    const panel = this.#panel();
    if (writes === draws) return draws.raw(erased + lines + panel);
    draws.raw(erased);
    writes.raw(lines);
    draws.raw(panel);
  }

  #drawSoon(): void {
    if (this.#later !== undefined) return;
    const wait = this.#drawnAt + drawEveryMs - this.#now();
    if (wait <= 0) return this.#draw();
    this.#later = setTimeout(() => this.#draw(), wait).unref();
  }

  #draw(): void {
    this.#held?.draws.raw(this.#erase() + this.#panel());
  }

  /** What removes the panel. A terminal that was made narrower has wrapped its lines: they are more rows than they were. */
  #erase(): string {
    const rows = this.#drawn
      .map((line) => Math.max(1, Math.ceil(stringWidth(line) / this.#columns())))
      .reduce((sum, each) => sum + each, 0);
    this.#drawn = [];
    if (rows === 0) return '';
    return ansiEscapes.cursorUp(rows) + ansiEscapes.cursorLeft + ansiEscapes.eraseDown;
  }

  /** What draws the panel. One column stays free: some terminals wrap a line that fills the last one. */
  #panel(): string {
    clearTimeout(this.#later);
    this.#later = undefined;
    this.#drawnAt = this.#now();
    const columns = this.#columns() - 1;
    const most = Math.max(1, (this.streams.terminal.rows ?? 24) - 1);
    this.#drawn = [...this.#panels]
      .flatMap((panel) => panel.lines(columns))
      .slice(0, most)
      .map((line) => fitLine(line, columns));
    return this.#drawn.map((line) => `${line}\n`).join('');
  }

  #columns(): number {
    // Where its width is unknown, as in some pseudo-terminals, it is 0.
    return this.streams.terminal.columns || 80;
  }

  #now(): number {
    return (this.streams.clock ?? (() => performance.now()))();
  }
}

const screens = new WeakMap<Terminal, Screen>();

/** The one owner of a terminal; that of stderr owns stdout too. */
export function screenOf(terminal: Terminal): Screen {
  const { stderr, stdout } = process;
  const owner =
    screens.get(terminal) ?? new Screen({ terminal, besides: terminal === stderr ? [stdout] : [] });
  screens.set(terminal, owner);
  return owner;
}
