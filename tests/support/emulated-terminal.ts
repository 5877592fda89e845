import { EventEmitter } from 'node:events';

import xterm from '@xterm/headless';

const { Terminal } = xterm;

export interface EmulatedSize {
  columns?: number;
  rows?: number;
  /** Line feeds alone start a new line too, as where the terminal's driver sees to it. */
  cooked?: boolean;
}

/** A terminal without a screen: a stream to write to, and what a person who looks at it would see. */
export class EmulatedTerminal extends EventEmitter {
  readonly isTTY = true;
  /** Everything that was written, as it was. */
  bytes = '';
  readonly #terminal;

  constructor({ columns: cols = 80, rows = 24, cooked: convertEol = true }: EmulatedSize = {}) {
    super();
    const more = { scrollback: 100_000, allowProposedApi: true };
    this.#terminal = new Terminal({ cols, rows, convertEol, ...more });
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  write = (text: string | Uint8Array): boolean => {
    this.bytes += typeof text === 'string' ? text : Buffer.from(text).toString();
    this.#terminal.write(text);
    return true;
  };

  /** Makes it wider or narrower, and tells who listens. */
  async resize(columns: number, rows = this.rows): Promise<void> {
    await this.#settled();
    this.#terminal.resize(columns, rows);
    this.emit('resize');
  }

  /** All rows that were ever shown and are not erased, from the top of the scrollback, as wide as they are. */
  async rowsShown(): Promise<string[]> {
    await this.#settled();
    return withoutEmptyEnd(this.#rows().map(({ text }) => text));
  }

  /** The same as lines: rows that the terminal wrapped are one. */
  async linesShown(): Promise<string[]> {
    await this.#settled();
    const lines: string[] = [];
    for (const { text, isWrapped } of this.#rows()) {
      if (isWrapped) lines.push(`${lines.pop() ?? ''}${text}`);
      else lines.push(text);
    }
    return withoutEmptyEnd(lines);
  }

  #rows() {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: active.length }, (_, index) => {
      const row = active.getLine(index);
      return { text: row?.translateToString(false) ?? '', isWrapped: row?.isWrapped === true };
    });
  }

  async #settled(): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write('', resolve));
  }
}

function withoutEmptyEnd(lines: readonly string[]): string[] {
  const trimmed = lines.map((line) => line.trimEnd());
  return trimmed.slice(0, trimmed.findLastIndex((line) => line !== '') + 1);
}
