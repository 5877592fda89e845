import { closeSync, openSync, readSync, statSync } from 'node:fs';

import { gguf } from '@huggingface/gguf';

import { messageOf } from '../../agent_rl/core/errors.ts';
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

  /** @throws AgentRlError `MODEL_INVALID` for what is no GGUF file, is cut short, or holds types that are not read */
  static async open(path: string): Promise<GgufFile> {
    const { metadata, tensorInfos, tensorDataOffset } = await gguf(path, {
      allowLocalFile: true,
    }).catch((cause: unknown) => {
      throw invalid(path, `it cannot be read as GGUF (${messageOf(cause)})`, cause);
    });
    const tensors = tensorInfos.map(({ name, shape, dtype, offset }) => ({
      name,
      // The file has the innermost axis first.
      shape: shape.map(Number).toReversed(),
      type: dtype,
      position: Number(tensorDataOffset + offset),
    }));
    requireKnownTypes(path, tensors);
    const { size } = statSync(path);
    const beyond = tensors.find((one) => one.position + bytesOf(one) > size);
    if (beyond !== undefined)
      throw invalid(path, `tensor "${beyond.name}" ends after the ${size} bytes of the file`);
    return new GgufFile(path, metadata as unknown as GgufMetadata, tensors, openSync(path, 'r'));
  }

  /** Its values, widened to float32. @throws AgentRlError `MODEL_INVALID` when the file is cut short meanwhile */
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
    storedTypes.get(tensor.type)!.widen(bytes, values);
    return values;
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

function requireKnownTypes(path: string, tensors: readonly GgufTensor[]): void {
  const known = [...storedTypes.values()].map(({ name }) => name);
  for (const tensor of tensors) {
    const { name, type, shape } = tensor;
    const stored = storedTypes.get(type);
    if (stored === undefined)
      throw invalid(
        path,
        `tensor "${name}" is stored as type ${type} of ggml; ${known.join(', ')} are read. Convert the model with llama-quantize, or take a file of one of these`,
      );
    if (shape.at(-1)! % stored.weights !== 0)
      throw invalid(
        path,
        `tensor "${name}" has rows of ${shape.at(-1)}, and ${stored.name} has blocks of ${stored.weights}`,
      );
  }
}
