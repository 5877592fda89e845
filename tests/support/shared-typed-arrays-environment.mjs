import { TestEnvironment } from 'jest-environment-node';

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

/** ONNX Runtime's native code accepts only the outer realm's typed arrays; jest's realm has its own. */
export default class SharedTypedArraysEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    for (const name of shared) this.global[name] = globalThis[name];
  }
}
