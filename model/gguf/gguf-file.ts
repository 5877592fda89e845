import { closeSync, openSync, readSync, statSync } from 'node:fs';

import { gguf } from '@huggingface/gguf';

import { messageOf } from '../../agent_rl/core/errors.ts';
import { placeNotFinite } from '../weights/read-values.ts';
import { invalid } from '../weights/safetensors-header.ts';
import { storedTypes } from './dequantise.ts';

/** A tensor as the file describes it. */
export interface GgufTensor {
  name: string;
  /** As in Hugging Face files: outputs first. */
  shape: readonly number[];
  /** Number of its type in ggml. */
  type: number;
  /** From the beginning of the file, in bytes. */
  position: number;
}

/** What a file says of itself: texts, numbers and lists by dotted names. */
export type GgufMetadata = Readonly<Record<string, unknown>>;

/** A GGUF file whose header was read. */
export class GgufFile {
  private constructor(
    readonly path: string,
    readonly metadata: GgufMetadata,
    readonly tensors: readonly GgufTensor[],
    private readonly descriptor: number,
  ) {}

  /** @throws AgentRlError `MODEL_INVALID` for a file that is not GGUF, is cut short, or holds unsupported types */
  static async open(path: string): Promise<GgufFile> {
    const header = await gguf(path, { allowLocalFile: true }).catch((cause: unknown) => {
      throw invalid(path, `it cannot be read as GGUF (${messageOf(cause)})`, cause);
    });
    const { tensorInfos, tensorDataOffset } = header;
    const metadata = header.metadata as unknown as GgufMetadata;
    const tensors = tensorInfos.map(({ name, shape, dtype, offset }) => ({
      name,
      // The file has the innermost axis first.
      shape: shape.map(Number).toReversed(),
      type: dtype,
      position: Number(tensorDataOffset + offset),
    }));
    requireKnownTypes(path, tensors);
    requireLayout(path, tensors, metadata['general.alignment']);
    return new GgufFile(path, metadata, tensors, openSync(path, 'r'));
  }

  /**
   * Its values, widened to float32.
   *
   * @throws AgentRlError `MODEL_INVALID` for values that are not finite, and when the file is cut short meanwhile
   */
  read(tensor: GgufTensor): Float32Array {
    const bytes = new Uint8Array(bytesOf(tensor));
    let filled = 0;
    while (filled < bytes.length) {
      const read = readSync(this.descriptor, bytes, {
        offset: filled,
        length: Math.min(bytes.length - filled, 2 ** 30),
        position: tensor.position + filled,
      });
      if (read === 0) throw invalid(this.path, `tensor "${tensor.name}" is cut short`);
      filled += read;
    }
    const values = new Float32Array(countOf(tensor));
    const stored = storedTypes.get(tensor.type)!;
    stored.widen(bytes, values);
    const place = placeNotFinite(values);
    if (place === undefined) return values;
    const block = Math.floor(place / stored.weights);
    throw invalid(
      this.path,
      `tensor "${tensor.name}" holds ${values[place]} in block ${block} of ${stored.name}, value ${place}; weights must be finite. The file is damaged or its training diverged: use another one`,
    );
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

const countOf = ({ shape }: GgufTensor): number =>
  shape.reduce((product, size) => product * size, 1);

function bytesOf(tensor: GgufTensor): number {
  const { weights, bytes } = storedTypes.get(tensor.type)!;
  return (countOf(tensor) / weights) * bytes;
}

const usualAlignment = 32;

/** Each tensor is to lie in the file, at a multiple of the alignment and behind the one before it. */
function requireLayout(
  path: string,
  tensors: readonly GgufTensor[],
  alignment: unknown = usualAlignment,
): void {
  const { size } = statSync(path);
  let before: GgufTensor | undefined;
  for (const tensor of tensors.toSorted((a, b) => a.position - b.position)) {
    const { name, position } = tensor;
    const begins = `tensor "${name}" begins at byte ${position} of the file`;
    if (position + bytesOf(tensor) > size)
      throw invalid(path, `tensor "${name}" ends beyond the file, which has ${size} bytes`);
    if (position % Number(alignment) !== 0)
      throw invalid(path, `${begins}; expected a multiple of ${String(alignment)}`);
    const reached = before === undefined ? 0 : before.position + bytesOf(before);
    if (position < reached)
      throw invalid(
        path,
        `${begins}, inside of tensor "${before?.name}", which ends at ${reached}`,
      );
    before = tensor;
  }
}

function requireKnownTypes(path: string, tensors: readonly GgufTensor[]): void {
  const known = [...storedTypes.values()].map(({ name }) => name);
  for (const tensor of tensors) {
    const { name, type, shape } = tensor;
    const stored = storedTypes.get(type);
    if (stored === undefined)
      throw invalid(
        path,
        `tensor "${name}" is stored as type ${type} of ggml; supported: ${known.join(', ')}. Convert the model with llama-quantize, or use a file of a supported type`,
      );
    if (shape.at(-1)! % stored.weights !== 0)
      throw invalid(
        path,
        `tensor "${name}" has rows of ${shape.at(-1)} values; ${stored.name} needs a multiple of its block size, ${stored.weights}`,
      );
  }
}
