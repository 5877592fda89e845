import { open, rename, rm, type FileHandle } from 'node:fs/promises';

import { AgentRlError, messageOf } from '../../agent_rl/core/errors.ts';
import { largestFloat16, narrowBFloat16, narrowFloat16 } from './half-precision.ts';
import { sizeOf } from '../../agent_rl/engine/check-inputs.ts';
import { outputUnwritable } from '../../agent_rl/telemetry/atomic-write.ts';
import { pieceBytes, readFloatsAt, readInto } from './read-values.ts';
import {
  bytesOf,
  invalid,
  longestHeader,
  parseHeader,
  type StoredDtype,
  type TensorEntry,
  type WeightsFile,
  type WrittenDtype,
} from './safetensors-header.ts';

/** An open file whose header has been checked. Close it, or hold it with `await using`. */
export class SafetensorsFile implements WeightsFile {
  private constructor(
    readonly path: string,
    readonly entries: readonly TensorEntry[],
    private readonly handle: FileHandle,
    private readonly dataStart: number,
  ) {}

  /** @throws AgentRlError `MODEL_INVALID` when the file is missing, cut short or damaged. */
  static async open(path: string): Promise<SafetensorsFile> {
    const handle = await open(path, 'r').catch((cause: unknown) => {
      throw invalid(path, `it cannot be read (${messageOf(cause)})`, cause);
    });
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw invalid(path, 'it is not a file');
      const { size } = stat;
      const length = await headerLength(handle, size, path);
      const header = Buffer.alloc(length);
      await readInto(handle, 8, header);
      const dataStart = 8 + length;
      const entries = parseHeader(header.toString('utf8'), size - dataStart, path);
      return new SafetensorsFile(path, entries, handle, dataStart);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** A tensor's values: floats widened to float32, bytes as they are. */
  async read(entry: TensorEntry): Promise<Float32Array | Uint8Array> {
    const { dtype, start, end } = entry;
    const position = this.dataStart + start;
    if (dtype === 'U8' || dtype === 'I64') {
      const bytes = new Uint8Array(end - start);
      if ((await readInto(this.handle, position, bytes)) === bytes.length) return bytes;
    } else {
      const count = (end - start) / bytesOf[dtype];
      const values = await readFloatsAt(this.handle, position, count, dtype);
      if (values !== undefined) return values;
    }
    throw invalid(
      this.path,
      `the file ends within the ${end - start} bytes of tensor "${entry.name}"`,
    );
  }

  /** A tensor of weights. @throws AgentRlError `MODEL_INVALID` when it holds bytes. */
  async readFloats(entry: TensorEntry): Promise<Float32Array> {
    const values = await this.read(entry);
    if (!isBytes(values)) return values;
    const { name, dtype } = entry;
    throw invalid(this.path, `tensor "${name}" has dtype "${dtype}"; expected F32, F16 or BF16`);
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

export interface TensorToWrite {
  shape: readonly number[];
  /** Floats are stored as the file's `dtype`, bytes as U8 whatever that is. */
  values: Float32Array | Uint8Array;
  /** Width of these floats, where it is not the file's. */
  dtype?: StoredDtype | undefined;
}

/** One whose floats are made when they are written, so that they are not held beside all others. */
export interface LateTensor {
  shape: readonly number[];
  make: () => Float32Array;
}

interface WriteSafetensorsOptions {
  dtype?: StoredDtype | undefined;
  /** Free text kept in the header. */
  metadata?: Readonly<Record<string, string>>;
}

/**
 * Writes wide elements before narrow ones and each in the order of their names, so that the same tensors always give
 * the same bytes and every element lies at a multiple of its width. The file appears whole or not at all: it is
 * written beside its place and renamed.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`; `MODEL_INVALID` for a value that does not fit the width.
 */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, TensorToWrite | LateTensor>,
  { dtype = 'F32', metadata = { format: 'pt' } }: WriteSafetensorsOptions = {},
): Promise<void> {
  const storedAs = (tensor: TensorToWrite | LateTensor): WrittenDtype => {
    if ('make' in tensor) return dtype;
    return isBytes(tensor.values) ? 'U8' : (tensor.dtype ?? dtype);
  };
  const ordered = [...tensors].toSorted(
    ([a, one], [b, other]) =>
      bytesOf[storedAs(other)] - bytesOf[storedAs(one)] || (a < b ? -1 : Number(a > b)),
  );
  const header: Record<string, unknown> = { __metadata__: metadata };
  let end = 0;
  for (const [name, tensor] of ordered) {
    const { shape } = tensor;
    if ('values' in tensor) requireCount(tensor.values, shape, `${path}: tensor "${name}"`);
    const stored = storedAs(tensor);
    const start = end;
    end += sizeOf(shape) * bytesOf[stored];
    header[name] = { dtype: stored, shape, data_offsets: [start, end] };
  }
  const chunks = function* (): Generator<Uint8Array> {
    yield headerBytes(header);
    for (const [name, tensor] of ordered) {
      const where = `${path}: tensor "${name}"`;
      const values = 'make' in tensor ? tensor.make() : tensor.values;
      requireCount(values, tensor.shape, where);
      const stored = storedAs(tensor);
      if (isBytes(values) || stored === 'U8') yield bytesUnder(values);
      else
        for (let at = 0; at < values.length; at += pieceBytes / 4)
          yield narrow(values.subarray(at, at + pieceBytes / 4), stored, where);
    }
  };
  await writeAside(path, chunks());
}

/** Writes a file beside its place and renames it there once it is whole. */
export async function writeAside(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
  const aside = `${path}.${process.pid}.partial`;
  try {
    const handle = await open(aside, 'w');
    try {
      for (const chunk of chunks) await handle.writeFile(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(aside, path);
  } catch (cause) {
    await rm(aside, { force: true });
    throw AgentRlError.is(cause) ? cause : outputUnwritable(path, cause);
  }
}

async function headerLength(handle: FileHandle, size: number, path: string): Promise<number> {
  const prefix = Buffer.alloc(8);
  if ((await readInto(handle, 0, prefix)) < 8) {
    const expected = 'a safetensors file begins with 8 that give the length of its header';
    throw invalid(path, `it has ${size} bytes; ${expected}`);
  }
  const length = prefix.readBigUInt64LE();
  if (length <= longestHeader && Number(length) <= size - 8) return Number(length);
  throw invalid(
    path,
    `its header should have ${length} bytes, but ${size - 8} follow; the file is cut short or is not a safetensors file`,
  );
}

function headerBytes(header: Readonly<Record<string, unknown>>): Uint8Array {
  const text = Buffer.from(JSON.stringify(header), 'utf8');
  const padded = Math.ceil(text.length / 8) * 8;
  const bytes = Buffer.alloc(8 + padded, ' ');
  bytes.writeBigUInt64LE(BigInt(padded));
  text.copy(bytes, 8);
  return bytes;
}

const isBytes = (values: TensorToWrite['values']): values is Uint8Array =>
  values.BYTES_PER_ELEMENT === 1;

const bytesUnder = ({
  buffer,
  byteOffset,
  byteLength,
}: Uint8Array | Uint16Array | Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

function requireCount(
  values: Float32Array | Uint8Array,
  shape: readonly number[],
  where: string,
): void {
  if (values.length === sizeOf(shape)) return;
  const described = `${values.length} values for shape [${shape.join(', ')}]`;
  throw new AgentRlError('MODEL_INVALID', `${where} has ${described}.`);
}

function narrow(values: Float32Array, dtype: StoredDtype, where: string): Uint8Array {
  if (dtype === 'F32') return bytesUnder(values);
  if (dtype === 'BF16') return bytesUnder(narrowBFloat16(values));
  for (const value of values) {
    if (Math.abs(value) <= largestFloat16 || !Number.isFinite(value)) continue;
    throw new AgentRlError(
      'MODEL_INVALID',
      `${where} holds ${value}; the largest F16 value is ${largestFloat16}. Store as BF16 or F32.`,
    );
  }
  return bytesUnder(narrowFloat16(values));
}
