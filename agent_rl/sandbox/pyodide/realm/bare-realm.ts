import { type Context, createContext, Script } from 'node:vm';

import { realmInstance } from './realm-instance.ts';
import { realmPrelude } from './realm-prelude.ts';

/** Functions of the realm's prelude. Everything that crosses is a primitive or an object of the realm. */
interface Prelude {
  seed: (number: number) => void;
  buffer: (length: number) => ArrayBuffer;
  putFile: (name: string, buffer: ArrayBuffer) => void;
  dropFiles: () => void;
  closeTimers: () => void;
}

/** What one instance answers to; see `realm-instance.ts`. */
export interface Instance {
  shared: SharedArrayBuffer;
  setInput: (buffer: ArrayBuffer) => void;
  setMemory: (bytes: number) => void;
  begin: () => void;
  beginFiles: () => void;
  putFile: (path: string, buffer: ArrayBuffer) => void;
  run: (code: string, seed: number) => unknown;
  calls: (code: string, entry: string, args: string, seed: number) => unknown;
  session: (code: string, seed: number) => unknown;
  serve: (code: string, seed: number) => unknown;
  tests: (tests: string) => unknown;
  restore: () => boolean;
}

/** Texts and files an instance is made from. */
export interface Parts {
  glue: string;
  loader: string;
  wasm: Uint8Array;
  stdlib: Uint8Array;
  /** None when the snapshot itself is being made. */
  snapshot?: Uint8Array;
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
