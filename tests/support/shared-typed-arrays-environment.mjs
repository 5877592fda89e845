import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';

import { TestEnvironment } from 'jest-environment-node';

// Most code of a test file runs too seldom for optimising it to pay. Later versions of Node have no such setting.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=1000000');

const shared = [
  'ArrayBuffer',
  'SharedArrayBuffer',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int8Array',
  'Uint16Array',
  'Int16Array',
  'Uint32Array',
  'Int32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
];

const { prototype } = AsyncLocalStorage;
const plain = Object.fromEntries(['run', 'enterWith'].map((name) => [name, prototype[name]]));

/**
 * ONNX Runtime's native code accepts only the outer realm's typed arrays; jest's realm has its own.
 *
 * And the stores that a test file opens are closed with it: Node gives every promise of the process a value of every open
 * store, so that each file would make all later ones of its worker slower, and be held in memory by their promises.
 */
export default class SharedTypedArraysEnvironment extends TestEnvironment {
  #opened = new Set();

  constructor(config, context) {
    super(config, context);
    for (const name of shared) this.global[name] = globalThis[name];
  }

  async setup() {
    await super.setup();
    const opened = this.#opened;
    for (const [name, open] of Object.entries(plain))
      prototype[name] = function (...args) {
        opened.add(this);
        return open.apply(this, args);
      };
  }

  async teardown() {
    Object.assign(prototype, plain);
    for (const store of this.#opened) store.disable();
    await super.teardown();
  }
}
