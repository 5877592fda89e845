import { PickleBytes, refused, Tuple } from './pickle-bytes.ts';
import type { TorchRules } from './torch-rules.ts';

/**
 * Runs a pickle that can build nothing but what the rules make, besides numbers, strings, tuples, lists and dicts.
 *
 * Written out for the opcodes that PyTorch writes, instead of a general parser behind a list of names: general ones
 * assign attacker's keys to JavaScript objects (`DICT`, `BUILD`), write through whatever is on the stack and spend
 * time that grows with the square of a length given in the file. Here dicts are Maps that only this machine makes,
 * every length is held against the bytes that are there, and each opcode adds one value at most, so that memory is
 * bounded by the length of the pickle. Nothing recurses, so a cycle is only a reference.
 *
 * @throws AgentRlError `MODEL_INVALID`, naming the opcode or the global that is refused.
 */
export function unpickle(bytes: Uint8Array, rules: TorchRules, file: string): unknown {
  return new Machine(new PickleBytes(bytes, file), rules, file).run();
}

/** Opcodes that are known and refused: each makes objects or runs code by a way that tensors never need. */
const refusedOpcodes: Readonly<Record<number, string>> = {
  0x6f: 'OBJ',
  0x81: 'NEWOBJ',
  0x82: 'EXT1',
  0x83: 'EXT2',
  0x84: 'EXT4',
  0x92: 'NEWOBJ_EX',
  0x97: 'NEXT_BUFFER',
  0x98: 'READONLY_BUFFER',
};

class Machine {
  #stack: unknown[] = [];
  readonly #below: unknown[][] = [];
  readonly #memo = new Map<number, unknown>();

  constructor(
    private readonly bytes: PickleBytes,
    private readonly rules: TorchRules,
    private readonly file: string,
  ) {}

  readonly #opcodes: Readonly<Record<number, () => void>> = {
    // Protocol, frames, marks and the memo.
    0x80: () => {
      const version = this.bytes.byte();
      if (version > 5) throw refused(this.file, `pickle protocol ${version}`);
    },
    0x95: () => this.bytes.skip(8),
    0x28: () => {
      this.#below.push(this.#stack);
      this.#stack = [];
    },
    0x71: () => this.#memo.set(this.bytes.byte(), this.#top()),
    0x72: () => this.#memo.set(this.bytes.uint32(), this.#top()),
    0x94: () => this.#memo.set(this.#memo.size, this.#top()),
    0x68: () => this.#push(this.#recall(this.bytes.byte())),
    0x6a: () => this.#push(this.#recall(this.bytes.uint32())),
    // Numbers and strings.
    0x4e: () => this.#push(null),
    0x88: () => this.#push(true),
    0x89: () => this.#push(false),
    0x4a: () => this.#push(this.bytes.int32()),
    0x4b: () => this.#push(this.bytes.byte()),
    0x4d: () => this.#push(this.bytes.uint16()),
    0x8a: () => this.#push(this.bytes.long(this.bytes.byte())),
    0x47: () => this.#push(this.bytes.float64()),
    0x58: () => this.#push(this.bytes.text(this.bytes.uint32())),
    0x8c: () => this.#push(this.bytes.text(this.bytes.byte())),
    // Tuples, lists and dicts.
    0x29: () => this.#push(new Tuple([])),
    0x85: () => this.#push(new Tuple(this.#popped(1))),
    0x86: () => this.#push(new Tuple(this.#popped(2))),
    0x87: () => this.#push(new Tuple(this.#popped(3))),
    0x74: () => this.#push(new Tuple(this.#sinceMark())),
    0x5d: () => this.#push([]),
    0x61: () => this.#append(this.#popped(1)),
    0x65: () => this.#append(this.#sinceMark()),
    0x7d: () => this.#push(new Map()),
    0x73: () => this.#setItems(this.#popped(2)),
    0x75: () => this.#setItems(this.#sinceMark()),
    // Globals, calls and references: what the rules decide on.
    0x63: () => this.#push(this.rules.global(this.#qualifiedLine())),
    0x93: () => this.#pushNamedGlobal(),
    0x51: () => this.#push(this.rules.persistent(this.#pop())),
    0x52: () => this.#call(),
    0x62: () => {
      const state = this.#pop();
      this.rules.build(this.#top(), state);
    },
    0x69: () => {
      throw refused(this.file, `${this.#qualifiedLine()} (opcode INST)`);
    },
  };

  run(): unknown {
    for (;;) {
      const opcode = this.bytes.byte();
      if (opcode === 0x2e) return this.#pop();
      const act = this.#opcodes[opcode];
      if (act === undefined) {
        const name = refusedOpcodes[opcode] ?? `0x${opcode.toString(16).padStart(2, '0')}`;
        throw refused(this.file, `opcode ${name}`);
      }
      act();
    }
  }

  #qualifiedLine(): string {
    const module = this.bytes.line();
    return `${module}.${this.bytes.line()}`;
  }

  #pushNamedGlobal(): void {
    const [module, name] = this.#popped(2);
    if (typeof name !== 'string' || typeof module !== 'string')
      throw refused(this.file, 'a global whose name is not text');
    this.#push(this.rules.global(`${module}.${name}`));
  }

  #call(): void {
    const args = this.#pop();
    if (!(args instanceof Tuple)) throw refused(this.file, 'a call with no tuple of arguments');
    this.#push(this.rules.reduce(this.#pop(), args.items));
  }

  #push(value: unknown): void {
    this.#stack.push(value);
  }

  #pop(): unknown {
    if (this.#stack.length === 0)
      throw refused(this.file, 'an operation that pops from an empty stack');
    return this.#stack.pop();
  }

  /** The last values, in the order they were pushed. */
  #popped(count: number): unknown[] {
    return Array.from({ length: count }, () => this.#pop()).toReversed();
  }

  #top(): unknown {
    if (this.#stack.length === 0) throw refused(this.file, 'an operation on an empty stack');
    return this.#stack.at(-1);
  }

  #recall(key: number): unknown {
    if (!this.#memo.has(key)) throw refused(this.file, `memo ${key}, which was never written`);
    return this.#memo.get(key);
  }

  #sinceMark(): unknown[] {
    const items = this.#stack;
    const below = this.#below.pop();
    if (below === undefined) throw refused(this.file, 'items without a mark before them');
    this.#stack = below;
    return items;
  }

  #append(items: readonly unknown[]): void {
    const list = this.#top();
    if (!Array.isArray(list)) throw refused(this.file, 'items for something other than a list');
    for (const item of items) list.push(item);
  }

  #setItems(items: readonly unknown[]): void {
    const dict = this.#top();
    if (!(dict instanceof Map)) throw refused(this.file, 'items for something other than a dict');
    if (items.length % 2 !== 0) throw refused(this.file, 'a key without its value');
    for (let i = 0; i < items.length; i += 2) {
      const key = items[i];
      if (typeof key !== 'string' && typeof key !== 'number')
        throw refused(this.file, 'a key that is neither text nor number');
      dict.set(key, items[i + 1]);
    }
  }
}
