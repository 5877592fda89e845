import { PickleBytes, refused } from './pickle-bytes.ts';

/** A tuple; a list is an array, a dict a Map. */
export class Tuple {
  constructor(readonly items: readonly unknown[]) {}
}

/** What a pickle may name, call and refer to. Each throws for what is not allowed. */
export interface PickleRules {
  /** What `module.name` stands for. */
  global(name: string): unknown;
  /** What an id of something kept outside of the pickle stands for. */
  persistent(id: unknown): unknown;
  /** What calling one of the globals gives. */
  reduce(callable: unknown, args: readonly unknown[]): unknown;
  /** Given state for an object already made; nothing is returned, nothing needs to be kept. */
  build(object: unknown, state: unknown): void;
}

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
export function unpickle(bytes: Uint8Array, rules: PickleRules, file: string): unknown {
  return new Machine(new PickleBytes(bytes, file), rules, file).run();
}

/** Opcodes that are known and refused: each makes objects or runs code by a way that tensors never need. */
const refusedOpcodes: Readonly<Record<number, string>> = {
  0x69: 'INST',
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
    private readonly rules: PickleRules,
    private readonly file: string,
  ) {}

  run(): unknown {
    for (;;) {
      const opcode = this.bytes.byte();
      if (opcode === 0x2e) return this.#pop();
      if (!this.#structure(opcode) && !this.#value(opcode) && !this.#container(opcode))
        this.#act(opcode);
    }
  }

  /** Protocol, marks and the memo. */
  #structure(opcode: number): boolean {
    switch (opcode) {
      case 0x80: {
        const version = this.bytes.byte();
        if (version > 5) throw refused(this.file, `pickle protocol ${version}`);
        return true;
      }
      case 0x95:
        this.bytes.skip(8);
        return true;
      case 0x28:
        this.#below.push(this.#stack);
        this.#stack = [];
        return true;
      case 0x71:
        this.#memo.set(this.bytes.byte(), this.#top());
        return true;
      case 0x72:
        this.#memo.set(this.bytes.uint32(), this.#top());
        return true;
      case 0x94:
        this.#memo.set(this.#memo.size, this.#top());
        return true;
      case 0x68:
        return this.#push(this.#recall(this.bytes.byte()));
      case 0x6a:
        return this.#push(this.#recall(this.bytes.uint32()));
      default:
        return false;
    }
  }

  /** Numbers and strings. */
  #value(opcode: number): boolean {
    switch (opcode) {
      case 0x4e:
        return this.#push(null);
      case 0x88:
        return this.#push(true);
      case 0x89:
        return this.#push(false);
      case 0x4a:
        return this.#push(this.bytes.int32());
      case 0x4b:
        return this.#push(this.bytes.byte());
      case 0x4d:
        return this.#push(this.bytes.uint16());
      case 0x8a:
        return this.#push(this.bytes.long(this.bytes.byte()));
      case 0x47:
        return this.#push(this.bytes.float64());
      case 0x58:
        return this.#push(this.bytes.text(this.bytes.uint32()));
      case 0x8c:
        return this.#push(this.bytes.text(this.bytes.byte()));
      default:
        return false;
    }
  }

  /** Tuples, lists and dicts. */
  #container(opcode: number): boolean {
    switch (opcode) {
      case 0x29:
        return this.#push(new Tuple([]));
      case 0x85:
      case 0x86:
      case 0x87: {
        const items = Array.from({ length: opcode - 0x84 }, () => this.#pop()).toReversed();
        return this.#push(new Tuple(items));
      }
      case 0x74:
        return this.#push(new Tuple(this.#sinceMark()));
      case 0x5d:
        return this.#push([]);
      case 0x61:
        return this.#append([this.#pop()]);
      case 0x65:
        return this.#append(this.#sinceMark());
      case 0x7d:
        return this.#push(new Map());
      case 0x73: {
        const value = this.#pop();
        return this.#setItems([this.#pop(), value]);
      }
      case 0x75:
        return this.#setItems(this.#sinceMark());
      default:
        return false;
    }
  }

  /** Globals, calls and references: what the rules decide on. */
  #act(opcode: number): void {
    switch (opcode) {
      case 0x63: {
        const module = this.bytes.line();
        this.#push(this.rules.global(`${module}.${this.bytes.line()}`));
        return;
      }
      case 0x93: {
        const name = this.#pop();
        const module = this.#pop();
        if (typeof name !== 'string' || typeof module !== 'string')
          throw refused(this.file, 'a global whose name is not text');
        this.#push(this.rules.global(`${module}.${name}`));
        return;
      }
      case 0x51:
        this.#push(this.rules.persistent(this.#pop()));
        return;
      case 0x52: {
        const args = this.#pop();
        if (!(args instanceof Tuple)) throw refused(this.file, 'a call with no tuple of arguments');
        this.#push(this.rules.reduce(this.#pop(), args.items));
        return;
      }
      case 0x62: {
        const state = this.#pop();
        this.rules.build(this.#top(), state);
        return;
      }
      case 0x69: {
        const module = this.bytes.line();
        throw refused(this.file, `${module}.${this.bytes.line()} (opcode INST)`);
      }
      default: {
        const name = refusedOpcodes[opcode] ?? `0x${opcode.toString(16).padStart(2, '0')}`;
        throw refused(this.file, `opcode ${name}`);
      }
    }
  }

  #push(value: unknown): true {
    this.#stack.push(value);
    return true;
  }

  #pop(): unknown {
    if (this.#stack.length === 0) throw refused(this.file, 'a value taken that is not there');
    return this.#stack.pop();
  }

  #top(): unknown {
    if (this.#stack.length === 0) throw refused(this.file, 'a value used that is not there');
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

  #append(items: readonly unknown[]): true {
    const list = this.#top();
    if (!Array.isArray(list)) throw refused(this.file, 'items for what is not a list');
    for (const item of items) list.push(item);
    return true;
  }

  #setItems(items: readonly unknown[]): true {
    const dict = this.#top();
    if (!(dict instanceof Map)) throw refused(this.file, 'items for what is not a dict');
    if (items.length % 2 !== 0) throw refused(this.file, 'a key without its value');
    for (let i = 0; i < items.length; i += 2) {
      const key = items[i];
      if (typeof key !== 'string' && typeof key !== 'number')
        throw refused(this.file, 'a key that is neither text nor number');
      dict.set(key, items[i + 1]);
    }
    return true;
  }
}
