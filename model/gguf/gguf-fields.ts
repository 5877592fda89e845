import type { GgufMetadata } from './gguf-file.ts';

/** Reads what a file says of itself, and collects what is wrong with it. */
export class GgufFields {
  readonly problems: string[] = [];

  constructor(
    private readonly metadata: GgufMetadata,
    /** Prefix of names, such as `llama`. */
    private readonly prefix: string,
  ) {}

  count(name: string, otherwise?: number): number {
    const value = this.#number(name, otherwise);
    if (!Number.isInteger(value) || value < 1)
      this.problems.push(`${this.prefix}.${name} is ${value}; expected a whole number above 0`);
    return value;
  }

  /** Stored as float32: the shortest number that stands for it. */
  float(name: string, otherwise?: number): number {
    const value = this.#number(name, otherwise);
    for (let digits = 1; digits < 9; digits++) {
      const short = Number(value.toPrecision(digits));
      if (Math.fround(short) === Math.fround(value)) return short;
    }
    return value;
  }

  text(name: string): string | undefined {
    const value = this.metadata[`${this.prefix}.${name}`];
    return typeof value === 'string' ? value : undefined;
  }

  has(name: string): boolean {
    return this.metadata[`${this.prefix}.${name}`] !== undefined;
  }

  #number(name: string, otherwise: number | undefined): number {
    const value = this.metadata[`${this.prefix}.${name}`] ?? otherwise;
    if (typeof value === 'bigint') return Number(value);
    if (typeof value === 'number') return value;
    const what = value === undefined ? 'missing' : 'no number';
    this.problems.push(`${this.prefix}.${name} is ${what}`);
    return Number.NaN;
  }
}
