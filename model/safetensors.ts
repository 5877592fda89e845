import { open, rename, rm, type FileHandle } from 'node:fs/promises';

import { AgentRlError, messageOf } from '../agent_rl/core/errors.ts';
import {
  fromBFloat16,
  fromFloat16,
  largestFloat16,
  toBFloat16,
  toFloat16,
} from './half-precision.ts';
import { elementCount } from './parameters.ts';
import {
  bytesOf,
  invalid,
  longestHeader,
  parseHeader,
  type StoredDtype,
  type TensorEntry,
} from './safetensors-header.ts';

/** An open file whose header has been checked. Close it, or hold it with `await using`. */
export class SafetensorsFile {
  private constructor(
    readonly path: string,
    readonly entries: readonly TensorEntry[],
    readonly handle: FileHandle,
    readonly dataStart: number,
  ) {}

  /** @throws AgentRlError `MODEL_INVALID` when the file is missing, cut short or damaged. */
  static async open(path: string): Promise<SafetensorsFile> {
    const handle = await open(path, 'r').catch((cause: unknown) => {
      throw invalid(path, `it cannot be read (${messageOf(cause)})`, cause);
    });
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw invalid(path, 'it is no file');
      const { size } = stat;
      const length = await headerLength(handle, size, path);
      const header = Buffer.from(await readBytes(handle, 8, length)).toString('utf8');
      const dataStart = 8 + length;
      return new SafetensorsFile(
        path,
        parseHeader(header, size - dataStart, path),
        handle,
        dataStart,
      );
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** A tensor's values, widened to float32. */
  async read(entry: TensorEntry): Promise<Float32Array> {
    const bytes = await readBytes(
      this.handle,
      this.dataStart + entry.start,
      entry.end - entry.start,
    );
    if (bytes.byteLength !== entry.end - entry.start) {
      throw invalid(
        this.path,
        `tensor "${entry.name}" ends before its ${entry.end - entry.start} bytes do`,
      );
    }
    return widen(bytes, entry.dtype);
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

export interface TensorToWrite {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export interface WriteSafetensorsOptions {
  readonly dtype?: StoredDtype;
  /** Free text kept in the header. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Writes tensors in the order of their names, so that the same tensors always give the same bytes. The file
 * appears whole or not at all: it is written beside its place and renamed.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`; `MODEL_INVALID` for a value that does not fit the width.
 */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, TensorToWrite>,
  { dtype = 'F32', metadata = { format: 'pt' } }: WriteSafetensorsOptions = {},
): Promise<void> {
  const names = [...tensors.keys()].toSorted();
  const header: Record<string, unknown> = { __metadata__: metadata };
  let end = 0;
  for (const name of names) {
    const { shape, values } = tensors.get(name)!;
    if (values.length !== elementCount(shape)) {
      throw invalid(
        path,
        `tensor "${name}" has ${values.length} values for shape [${shape.join(', ')}]`,
      );
    }
    const start = end;
    end += values.length * bytesOf[dtype];
    header[name] = { dtype, shape, data_offsets: [start, end] };
  }
  const chunks = function* (): Generator<Uint8Array> {
    yield headerBytes(header);
    for (const name of names)
      yield narrow(tensors.get(name)!.values, dtype, `${path}: tensor "${name}"`);
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
    if (AgentRlError.is(cause)) throw cause;
    throw new AgentRlError(
      'OUTPUT_UNWRITABLE',
      `Cannot write ${path}: ${messageOf(cause)}. Check space and permissions.`,
      {
        cause,
      },
    );
  }
}

async function headerLength(handle: FileHandle, size: number, path: string): Promise<number> {
  if (size < 8)
    throw invalid(
      path,
      `it has ${size} bytes; a safetensors file starts with 8 that give its header's length`,
    );
  const prefix = Buffer.from(await readBytes(handle, 0, 8));
  const length = prefix.readBigUInt64LE();
  if (length > longestHeader || Number(length) > size - 8) {
    throw invalid(
      path,
      `its header should have ${length} bytes, but ${size - 8} follow; the file is cut short or is not a safetensors file`,
    );
  }
  return Number(length);
}

/** Fewer bytes than asked for when the file ends. One read call moves at most 2 GiB. */
async function readBytes(
  handle: FileHandle,
  position: number,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const most = Math.min(length - filled, 2 ** 30);
    const { bytesRead } = await handle.read(bytes, filled, most, position + filled);
    if (bytesRead === 0) return bytes.slice(0, filled);
    filled += bytesRead;
  }
  return bytes;
}

function headerBytes(header: Readonly<Record<string, unknown>>): Uint8Array {
  const text = Buffer.from(JSON.stringify(header), 'utf8');
  const padded = Math.ceil(text.length / 8) * 8;
  const bytes = Buffer.alloc(8 + padded, ' ');
  bytes.writeBigUInt64LE(BigInt(padded));
  text.copy(bytes, 8);
  return bytes;
}

function widen(bytes: Uint8Array<ArrayBuffer>, dtype: StoredDtype): Float32Array {
  if (dtype === 'F32') return new Float32Array(bytes.buffer);
  return Float32Array.from(
    new Uint16Array(bytes.buffer),
    dtype === 'F16' ? fromFloat16 : fromBFloat16,
  );
}

function narrow(values: Float32Array, dtype: StoredDtype, where: string): Uint8Array {
  if (dtype === 'F32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (dtype === 'BF16') return new Uint8Array(Uint16Array.from(values, toBFloat16).buffer);
  const tooLarge = values.find(
    (value) => Number.isFinite(value) && Math.abs(value) > largestFloat16,
  );
  if (tooLarge !== undefined) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `${where} holds ${tooLarge}; F16 reaches ${largestFloat16}. Store as BF16 or F32.`,
    );
  }
  return new Uint8Array(Uint16Array.from(values, toFloat16).buffer);
}
