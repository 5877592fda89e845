/**
 * The values of a template, as Python's: `None` is null, a `str` a string, an `int` a bigint, a `float` a number, a `list` an
 * array. Nothing that a template does changes one, but for a namespace.
 */
import { isMark, unmarked } from '../../../agent_rl/core/python/python-json.ts';
import { isRecord } from '../../../agent_rl/core/is-record.ts';

export type Value = null | boolean | bigint | number | string | readonly Value[] | Thing;

/** A value that JavaScript has no kind of its own for. */
export type Thing =
  Markup | Undefined | Tuple | Dict | View | Range | Lazy | Namespace | Callable | Loop;

/** Thrown for what Python does and this does not: the template is refused, and never rendered otherwise. */
export class Unsupported extends Error {
  constructor(what: string) {
    super(`${what} is not supported`);
  }
}

/** What a name stands for that nothing was assigned to. Most that is done with it is an error. */
export class Undefined {
  constructor(readonly message: string) {}
}

export class Tuple {
  constructor(readonly items: readonly Value[]) {}
}

/** A text that is HTML: another that is added to it is escaped. Little else can be done with one here. */
export class Markup {
  constructor(readonly text: string) {}
}

/** A group of `groupby`. */
export class Group extends Tuple {}

/** A dictionary: its keys stay in order, and 1, 1.0 and True are one key. */
export class Dict {
  readonly #entries = new Map<null | bigint | number | string, readonly [Value, Value]>();

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    for (const [key, value] of entries) {
      const hash = hashOf(key);
      this.#entries.set(hash, [this.#entries.get(hash)?.[0] ?? key, value]);
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(hashOf(key))?.[1];
  }

  entries(): Iterable<readonly [Value, Value]> {
    return this.#entries.values();
  }

  keys(): readonly Value[] {
    return Array.from(this.entries(), ([key]) => key);
  }

  values(): readonly Value[] {
    return Array.from(this.entries(), ([, value]) => value);
  }
}

/** A key as it is looked up. @throws TypeError for what Python cannot hash */
export function hashOf(key: Value): null | bigint | number | string {
  if (typeof key === 'boolean') return BigInt(key);
  if (typeof key === 'number') return Number.isInteger(key) ? BigInt(key) : key;
  if (key === null || typeof key === 'bigint' || typeof key === 'string') return key;
  if (Array.isArray(key) || key instanceof Dict)
    throw new TypeError(`unhashable type: '${typeOf(key)}'`);
  throw new Unsupported(`a key that is a ${typeOf(key)}`);
}

/** What `keys()`, `values()` and `items()` of a dictionary give. */
export class View {
  constructor(
    readonly of: Dict,
    readonly kind: 'keys' | 'values' | 'items',
  ) {}

  get items(): readonly Value[] {
    if (this.kind === 'items') return Array.from(this.of.entries(), (entry) => new Tuple(entry));
    return this.of[this.kind]();
  }
}

/** What `range` gives; its items are made when they are needed. */
export class Range {
  constructor(
    readonly start: bigint,
    readonly stop: bigint,
    readonly step: bigint,
  ) {}

  get length(): number {
    const { start, stop, step } = this;
    const span = step > 0n ? stop - start : start - stop;
    const size = step > 0n ? step : -step;
    return span <= 0n ? 0 : Number((span + size - 1n) / size);
  }

  get items(): readonly bigint[] {
    let at = this.start - this.step;
    return Array.from({ length: this.length }, () => (at += this.step));
  }
}

/** A generator: its items can be taken once. */
export class Lazy {
  readonly iterator: Iterator<Value>;

  constructor(items: Iterable<Value>) {
    this.iterator = items[Symbol.iterator]();
  }
}

export class Namespace {
  constructor(readonly members: Map<string, Value>) {}
}

export interface Given {
  readonly positional: readonly Value[];
  readonly keywords: ReadonlyMap<string, Value>;
}

/** A function, method or macro. */
export class Callable {
  constructor(
    readonly name: string,
    readonly call: (given: Given) => Value,
    readonly isMacro = false,
  ) {}
}

/** `loop` in the body of a loop. */
export class Loop {
  index = -1;
  last: readonly Value[] | undefined;

  constructor(readonly items: readonly Value[]) {}
}

/** The name of a value's type in Python. */
export function typeOf(value: Value): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'float';
  if (typeof value === 'string') return 'str';
  if (Array.isArray(value)) return 'list';
  if (value instanceof View) return `dict_${value.kind}`;
  if (value instanceof Lazy) return 'generator';
  if (value instanceof Callable) return value.isMacro ? 'Macro' : 'function';
  if (value instanceof Tuple) return 'tuple';
  if (value instanceof Markup) return 'Markup';
  return (value as Thing).constructor.name.toLowerCase();
}

/** A value of JSON; numbers that JavaScript would print otherwise may be marked. */
export function valueOf(plain: unknown): Value {
  if (isMark(plain)) return numberOf(unmarked(plain as string));
  if (plain === undefined || plain === null) return null;
  if (typeof plain === 'string' || typeof plain === 'boolean' || typeof plain === 'bigint')
    return plain;
  // JavaScript writes integers from 1e21 on as Python writes floats, and so they were read.
  if (typeof plain === 'number')
    return Number.isInteger(plain) && Math.abs(plain) < 1e21 ? BigInt(String(plain)) : plain;
  if (Array.isArray(plain)) return plain.map(valueOf);
  if (!isRecord(plain)) throw new TypeError(`a ${typeof plain} is no JSON`);
  const entries = Object.entries(plain).filter(([, value]) => value !== undefined);
  return new Dict(entries.map(([key, value]) => [unmarked(key), valueOf(value)]));
}

const numberOf = (python: string): Value =>
  /[.en]/.test(python) ? Number(python.replace('inf', 'Infinity')) : BigInt(python);
