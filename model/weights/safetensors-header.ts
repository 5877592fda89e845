import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { JsonShape } from '../../agent_rl/core/wire/json-shape.ts';
import { sizeOf } from '../../agent_rl/engine/check-inputs.ts';

/** Widths a weight may be stored in. In memory all are float32. */
export type StoredDtype = 'F32' | 'F16' | 'BF16';

/** What a tensor that is written may hold: weights, or bytes that stay bytes, such as quantised weights. */
export type WrittenDtype = StoredDtype | 'U8';

/** What a tensor may hold. Whole numbers, such as BERT's positions, stay bytes. */
export type TensorDtype = WrittenDtype | 'I64';

export const bytesOf: Readonly<Record<TensorDtype, number>> = {
  F32: 4,
  F16: 2,
  BF16: 2,
  U8: 1,
  I64: 8,
};

/** Where one tensor lies; offsets count from the end of the header. */
export interface TensorEntry {
  name: string;
  dtype: TensorDtype;
  shape: readonly number[];
  start: number;
  end: number;
}

/** An open file of tensors whose table of contents was read and checked; the values were not. */
export interface WeightsFile {
  path: string;
  entries: readonly TensorEntry[];
  /** A tensor's values: floats widened to float32, bytes as they are. */
  read(entry: TensorEntry): Promise<Float32Array | Uint8Array>;
  /** A tensor of weights. @throws AgentRlError `MODEL_INVALID` when it holds bytes. */
  readFloats(entry: TensorEntry): Promise<Float32Array>;
  close(): Promise<void>;
}

/** The format's own bound, which keeps a corrupt length from being believed. */
export const longestHeader = 100_000_000;

/**
 * Reads and checks the JSON header of a safetensors file (https://github.com/huggingface/safetensors#format).
 *
 * @param dataBytes What follows the header in the file.
 * @throws AgentRlError `MODEL_INVALID`: broken JSON, unknown dtype, sizes that do not fit, overlaps, holes,
 * tensors outside the file.
 */
export function parseHeader(text: string, dataBytes: number, file: string): TensorEntry[] {
  const shape = new JsonShape().add(Buffer.from(text)).problem(Infinity);
  if (shape !== undefined) throw invalid(file, `its header ${shape}`);
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (cause) {
    const problem = 'its header is not JSON; the file is damaged or is not a safetensors file';
    throw invalid(file, problem, cause);
  }
  if (!isRecord(header)) throw invalid(file, 'its header is not a JSON object');
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => entryOf(name, value, file))
    .toSorted((a, b) => a.start - b.start || a.end - b.end);
  checkLayout(entries, dataBytes, file);
  return entries;
}

function entryOf(name: string, value: unknown, file: string): TensorEntry {
  const wrong = (problem: string): AgentRlError => invalid(file, `tensor "${name}" ${problem}`);
  if (!isRecord(value)) throw wrong(`is described by ${JSON.stringify(value)}, not an object`);
  const { dtype, shape, data_offsets: offsets } = value;
  if (!isTensorDtype(dtype))
    throw wrong(`has dtype ${JSON.stringify(dtype)}; F32, F16, BF16, U8 and I64 can be read`);
  if (!isSizes(shape)) throw wrong(`has shape ${JSON.stringify(shape)}, not a list of sizes`);
  if (!isSizes(offsets) || offsets.length !== 2 || offsets[0]! > offsets[1]!)
    throw wrong(`has data_offsets ${JSON.stringify(offsets)}, not [start, end]`);
  const [start = 0, end = 0] = offsets;
  const expected = sizeOf(shape) * bytesOf[dtype];
  if (end - start === expected) return { name, dtype, shape, start, end };
  const described = `${dtype} [${shape.join(', ')}]`;
  throw wrong(`of ${described} needs ${expected} bytes but has ${end - start}`);
}

function checkLayout(entries: readonly TensorEntry[], dataBytes: number, file: string): void {
  const ofData = (byte: number): string => `byte ${byte} of the data, which has ${dataBytes}`;
  let reached = 0;
  for (const { name, start, end } of entries) {
    const tensor = `tensor "${name}"`;
    if (end > dataBytes)
      throw invalid(file, `${tensor} ends at ${ofData(end)}; the file is cut short`);
    if (start !== reached) {
      const fault =
        start < reached
          ? `overlaps the tensor before it, which ends at ${reached}`
          : `leaves the bytes from ${reached} on unused`;
      throw invalid(file, `${tensor} starts at byte ${start} of the data and ${fault}`);
    }
    reached = end;
  }
  if (reached === dataBytes) return;
  throw invalid(file, `its tensors end at ${ofData(reached)}; expected nothing after them`);
}

export const invalid = (file: string, problem: string, cause?: unknown): AgentRlError =>
  new AgentRlError('MODEL_INVALID', `${file}: ${problem}.`, { cause });

const isTensorDtype = (value: unknown): value is TensorDtype =>
  typeof value === 'string' && Object.hasOwn(bytesOf, value);

const isSizes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
