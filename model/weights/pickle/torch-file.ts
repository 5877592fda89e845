import { open, type FileHandle } from 'node:fs/promises';
import { callbackify } from 'node:util';

import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';

import { AgentRlError, messageOf } from '../../../agent_rl/core/errors.ts';
import { sizeOf } from '../../../agent_rl/engine/check-inputs.ts';
import { readFloatsAt, readInto } from '../read-values.ts';
import { bytesOf, invalid, type TensorEntry, type WeightsFile } from '../safetensors-header.ts';
import { refused } from './pickle-bytes.ts';
import { type TorchTensor, TorchRules } from './torch-rules.ts';
import { unpickle } from './unpickle.ts';

/** The list of tensors of the largest models has a hundredth of this. */
const largestPickle = 2 ** 24;

interface Place {
  start: number;
  length: number;
}

interface PlacedTensor extends TorchTensor {
  position: number;
}

/**
 * A state dict as `torch.save` writes it since PyTorch 1.6: a zip of uncompressed entries, `data.pkl` with the
 * names and shapes, and one entry per storage. Nothing in it is run, and only tensors can be in it.
 */
export class TorchFile implements WeightsFile {
  readonly entries: readonly TensorEntry[];

  private constructor(
    readonly path: string,
    private readonly tensors: ReadonlyMap<string, PlacedTensor>,
    private readonly handle: FileHandle,
  ) {
    this.entries = [...tensors].map(entryOf);
  }

  /** @throws AgentRlError `MODEL_INVALID` when it is not such a file, or its pickle names anything but tensors. */
  static async open(path: string): Promise<TorchFile> {
    const handle = await open(path, 'r').catch((cause: unknown) => {
      throw invalid(path, `it cannot be read (${messageOf(cause)})`, cause);
    });
    try {
      const places = await readPlaces(handle, path);
      const root = rootOf(path, places);
      await checkByteOrder(handle, path, places.get(`${root}byteorder`));
      const pickle = await readPickle(handle, path, places.get(`${root}data.pkl`)!);
      const rules = new TorchRules(path);
      const tensors = new Map<string, PlacedTensor>();
      for (const [name, tensor] of namedTensors(unpickle(pickle, rules, path), rules, path))
        tensors.set(name, placed(tensor, places.get(`${root}data/${tensor.storage.key}`), path));
      return new TorchFile(path, tensors, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  read(entry: TensorEntry): Promise<Float32Array> {
    return this.readFloats(entry);
  }

  async readFloats({ name }: TensorEntry): Promise<Float32Array> {
    const tensor = this.tensors.get(name);
    if (tensor === undefined) throw invalid(this.path, `it has no tensor "${name}"`);
    const { shape, strides, offset, storage, position } = tensor;
    const count = sizeOf(shape);
    const span =
      count === 0 ? 0 : shape.reduce((sum, size, i) => sum + (size - 1) * strides[i]!, 1);
    const from = position + offset * bytesOf[storage.dtype];
    const values = await readFloatsAt(this.handle, from, span, storage.dtype);
    if (values === undefined) throw invalid(this.path, `the file ends within tensor "${name}"`);
    return isContiguous(tensor) ? values : gathered(values, tensor, count);
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

/**
 * Reads an open zip for yauzl, whose own reader throws out of a callback, where nothing catches it, when a damaged file
 * points beyond what a number can say.
 */
class ZipReader extends RandomAccessReader {
  constructor(
    private readonly handle: FileHandle,
    private readonly size: number,
  ) {
    super();
  }

  override read(...given: Parameters<RandomAccessReader['read']>): void {
    const [buffer, offset, length, position, callback] = given;
    const bytesRead = async (): Promise<number> => {
      if (position + length > this.size)
        throw new Error(
          `it points to byte ${position + length}, but the file has only ${this.size} bytes`,
        );
      return (await this.handle.read(buffer, { offset, length, position })).bytesRead;
    };
    callbackify(bytesRead)(callback);
  }

  /** The file stays open: it belongs to who opened it. */
  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }
}

async function readPlaces(handle: FileHandle, path: string): Promise<ReadonlyMap<string, Place>> {
  const { size } = await handle.stat();
  let zip: ZipFile;
  try {
    const reader = new ZipReader(handle, size);
    zip = await fromRandomAccessReaderPromise(reader, size, { autoClose: false });
  } catch (cause) {
    throw invalid(
      path,
      `it is not a zip file (${messageOf(cause)}). It is damaged, or PyTorch older than 1.6 saved it: save it again with a newer PyTorch`,
      cause,
    );
  }
  try {
    const places = new Map<string, Place>();
    for await (const entry of zip.eachEntry()) {
      if (places.has(entry.fileName)) throw invalid(path, 'two of its entries have the same name');
      places.set(entry.fileName, await placeOf(zip, entry, path));
    }
    return places;
  } catch (cause) {
    if (AgentRlError.is(cause)) throw cause;
    throw invalid(path, `its table of contents is damaged (${messageOf(cause)})`, cause);
  } finally {
    zip.close();
  }
}

async function placeOf(zip: ZipFile, entry: Entry, path: string): Promise<Place> {
  const { compressionMethod, compressedSize, uncompressedSize, fileName } = entry;
  if (compressionMethod !== 0 || entry.isEncrypted() || compressedSize !== uncompressedSize)
    throw invalid(
      path,
      `its entry ${JSON.stringify(fileName)} is compressed; PyTorch does not compress`,
    );
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  if (fileDataStart + uncompressedSize > zip.fileSize)
    throw invalid(path, `its entry ${JSON.stringify(fileName)} ends beyond the file`);
  return { start: fileDataStart, length: uncompressedSize };
}

/** The folder in the zip that everything is in, named after the file when it was saved. */
function rootOf(path: string, places: ReadonlyMap<string, Place>): string {
  const roots = [...places.keys()].filter((name) => /^[^/]+\/data\.pkl$/.test(name));
  if (roots.length === 1) return roots[0]!.slice(0, -'data.pkl'.length);
  throw invalid(path, `it holds ${roots.length} entries data.pkl; torch.save writes exactly one`);
}

async function checkByteOrder(
  handle: FileHandle,
  path: string,
  place: Place | undefined,
): Promise<void> {
  if (place === undefined) return;
  const bytes = Buffer.alloc(Math.min(place.length, 16));
  await readInto(handle, place.start, bytes);
  if (bytes.toString('latin1') !== 'little')
    throw invalid(
      path,
      'it was saved on a machine with another byte order; save it again on one like this',
    );
}

async function readPickle(handle: FileHandle, path: string, place: Place): Promise<Uint8Array> {
  if (place.length > largestPickle) {
    throw invalid(
      path,
      `its list of tensors has ${place.length} bytes; at most ${largestPickle} are allowed`,
    );
  }
  const bytes = new Uint8Array(place.length);
  await readInto(handle, place.start, bytes);
  return bytes;
}

function namedTensors(
  value: unknown,
  rules: TorchRules,
  path: string,
): readonly (readonly [string, TorchTensor])[] {
  if (!(value instanceof Map)) throw refused(path, 'something other than a dict of tensors');
  return [...value].map(([name, tensor]) => {
    if (typeof name === 'string' && rules.isTensor(tensor)) return [name, tensor] as const;
    throw refused(path, `${JSON.stringify(String(name).slice(0, 200))}, which is not a tensor`);
  });
}

function placed(tensor: TorchTensor, place: Place | undefined, path: string): PlacedTensor {
  const { key, length, dtype } = tensor.storage;
  if (place?.length === length * bytesOf[dtype]) return { ...tensor, position: place.start };
  throw invalid(
    path,
    `its storage ${key} should have ${length * bytesOf[dtype]} bytes, but has ${place?.length ?? 'no entry'}`,
  );
}

function entryOf([name, tensor]: readonly [string, PlacedTensor]): TensorEntry {
  const { storage, shape, offset, position } = tensor;
  const { dtype } = storage;
  const start = position + offset * bytesOf[dtype];
  return { name, dtype, shape, start, end: start + sizeOf(shape) * bytesOf[dtype] };
}

/** Row after row without a gap, whatever the stride of dimensions of one. */
function isContiguous({ shape, strides }: TorchTensor): boolean {
  let expected = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    if (shape[i] !== 1 && strides[i] !== expected) return false;
    expected *= shape[i]!;
  }
  return true;
}

/** The values of a view, such as a transposed matrix, row by row. */
function gathered(
  values: Float32Array,
  { shape, strides }: TorchTensor,
  count: number,
): Float32Array {
  const result = new Float32Array(count);
  const index = shape.map(() => 0);
  let at = 0;
  for (let i = 0; i < count; i++) {
    result[i] = values[at]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at += strides[axis]!;
      index[axis]! += 1;
      if (index[axis]! < shape[axis]!) break;
      at -= strides[axis]! * shape[axis]!;
      index[axis] = 0;
    }
  }
  return result;
}
