/** Reads numbers and flags, remembering what was wrong instead of stopping at the first. */
export class JsonFields {
  constructor(
    readonly raw: Readonly<Record<string, unknown>>,
    readonly problems: string[] = [],
    readonly prefix = '',
  ) {}

  count(name: string, otherwise?: number): number {
    const value = this.raw[name] ?? otherwise;
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
    return this.#refuse(name, value, 'a positive integer');
  }

  positive(name: string, otherwise?: number): number {
    const value = this.raw[name] ?? otherwise;
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
    return this.#refuse(name, value, 'a positive number');
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.raw[name] ?? otherwise;
    if (typeof value === 'boolean') return value;
    this.#refuse(name, value, 'true or false');
    return otherwise;
  }

  tokenIds(name: string): readonly number[] {
    const value = this.raw[name] ?? [];
    const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (ids.every(isTokenId)) return ids;
    this.#refuse(name, value, 'a token id or a list of them');
    return [];
  }

  #refuse(name: string, value: unknown, expected: string): number {
    const got = value === undefined ? 'it is missing' : `got ${JSON.stringify(value)}`;
    this.problems.push(`${this.prefix}${name} must be ${expected}; ${got}.`);
    return 1;
  }
}

const isTokenId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;
