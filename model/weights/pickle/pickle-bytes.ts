import { AgentRlError } from '../../../agent_rl/core/errors.ts';

/** @returns the error for a pickle that does what no file of tensors needs. */
export function refused(file: string, what: string): AgentRlError {
  return new AgentRlError(
    'MODEL_INVALID',
    `${file}: its pickle holds ${what}. In a .pth file, only plain tensors are supported. Nothing in the pickle was run, but other programs may run what it contains: load the file elsewhere only if you trust its source, or get the weights as .safetensors.`,
  );
}

/** A tuple; a list is an array, a dict a Map. */
export class Tuple {
  constructor(readonly items: readonly unknown[]) {}
}

/** A longer name of a global is not a name. */
const longestLine = 4096;

/** The bytes of a pickle in order; every length is held against what is left. */
export class PickleBytes {
  readonly #view: DataView;
  #at = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly file: string,
  ) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte(): number {
    return this.#view.getUint8(this.skip(1));
  }

  uint16(): number {
    return this.#view.getUint16(this.skip(2), true);
  }

  int32(): number {
    return this.#view.getInt32(this.skip(4), true);
  }

  uint32(): number {
    return this.#view.getUint32(this.skip(4), true);
  }

  float64(): number {
    return this.#view.getFloat64(this.skip(8), false);
  }

  /** A whole number of `length` bytes, in two's complement. */
  long(length: number): number {
    if (length > 8) throw refused(this.file, `a whole number of ${length} bytes`);
    const start = this.skip(length);
    let bits = 0n;
    for (let i = length - 1; i >= 0; i--)
      bits = (bits << 8n) | BigInt(this.#view.getUint8(start + i));
    const value = BigInt.asIntN(8 * length, bits);
    if (Number.isSafeInteger(Number(value))) return Number(value);
    throw refused(this.file, `the whole number ${value}`);
  }

  text(length: number): string {
    const start = this.skip(length);
    return Buffer.from(this.bytes.subarray(start, start + length)).toString('utf8');
  }

  /** Text up to the end of its line. */
  line(): string {
    const window = this.bytes.subarray(this.#at, this.#at + longestLine);
    const length = window.indexOf(0x0a);
    if (length === -1) throw refused(this.file, 'a name without an end');
    const line = this.text(length);
    this.skip(1);
    return line;
  }

  /** @returns where the bytes skipped start. */
  skip(length: number): number {
    const start = this.#at;
    if (length > this.bytes.length - start) {
      throw refused(
        this.file,
        `a value of ${length} bytes that begins at byte ${start}, but only ${this.bytes.length} bytes in total, so it is cut short or damaged`,
      );
    }
    this.#at += length;
    return start;
  }
}
