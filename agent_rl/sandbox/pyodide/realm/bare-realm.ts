import { createContext, Script } from 'node:vm';
import type { Context } from 'node:vm';

import { realmInstance } from './realm-instance.ts';
import { realmPrelude } from './realm-prelude.ts';

/** Functions of the realm's prelude. Everything that crosses is a primitive or an object of the realm. */
interface Prelude {
  readonly seed: (number: number) => void;
  readonly buffer: (length: number) => ArrayBuffer;
  readonly putFile: (name: string, buffer: ArrayBuffer) => void;
  readonly dropFiles: () => void;
  readonly closeTimers: () => void;
}

/** What one instance answers to; see `realm-instance.ts`. */
export interface Instance {
  readonly shared: SharedArrayBuffer;
  readonly setInput: (buffer: ArrayBuffer) => void;
  readonly setMemory: (bytes: number) => void;
  readonly begin: () => void;
  readonly beginFiles: () => void;
  readonly putFile: (path: string, buffer: ArrayBuffer) => void;
  readonly run: (code: string, seed: number) => unknown;
  readonly calls: (code: string, entry: string, args: string, seed: number) => unknown;
  readonly session: (code: string, seed: number) => unknown;
  readonly serve: (code: string, seed: number) => unknown;
  readonly tests: (tests: string) => unknown;
  readonly restore: () => boolean;
}

/** Texts and files an instance is made from. */
export interface Parts {
  readonly glue: string;
  readonly loader: string;
  readonly wasm: Uint8Array;
  readonly stdlib: Uint8Array;
  /** None when the snapshot itself is being made. */
  readonly snapshot?: Uint8Array;
}

/** A JavaScript realm with the language's own globals, no code from strings, and what pyodide needs. */
export class BareRealm {
  readonly #context: Context;
  readonly prelude: Prelude;

  constructor() {
    this.#context = createContext(Object.create(null) as object, {
      name: 'sandbox',
      codeGeneration: { strings: false, wasm: true },
    });
    this.prelude = this.evaluate(realmPrelude, 'prelude.js') as Prelude;
  }

  evaluate(source: string, filename: string): unknown {
    return new Script(source, { filename }).runInContext(this.#context);
  }

  /** A buffer of the realm with a copy of the bytes. */
  bufferOf(bytes: Uint8Array): ArrayBuffer {
    const buffer = this.prelude.buffer(bytes.byteLength);
    new Uint8Array(buffer).set(bytes);
    return buffer;
  }

  /** Loads pyodide; `settings` becomes an object of the realm by way of JSON. */
  async instantiate<Made = Instance>(parts: Parts, settings: object): Promise<Made> {
    const { prelude } = this;
    prelude.seed(0);
    prelude.putFile('pyodide.asm.wasm', this.bufferOf(parts.wasm));
    prelude.putFile('python_stdlib.zip', this.bufferOf(parts.stdlib));
    if (parts.snapshot) prelude.putFile('snapshot.bin', this.bufferOf(parts.snapshot));
    const doors = this.evaluate('({ used: false, heapMaxBytes: 536870912 })', 'doors.js');
    this.evaluate(parts.loader, 'loader.js');
    (this.evaluate(parts.glue, 'glue.js') as (shared: unknown) => void)(doors);
    const text = JSON.stringify(JSON.stringify(settings));
    const inner = this.evaluate(`JSON.parse(${text})`, 'settings.js');
    const make = this.evaluate(realmInstance, 'instance.js') as (
      settings: unknown,
      doors: unknown,
    ) => Promise<Made>;
    const made = await make(inner, doors);
    prelude.dropFiles();
    return made;
  }
}
