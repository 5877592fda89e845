import onnxProto from 'onnx-proto';
import { AgentRlError } from '../../core/errors.ts';
import { elementTypes, type Graph, type Initializer } from '../trace/graph.ts';
import {
  encodeNode,
  encodePort,
  modelHead,
  mostBytes,
  placedApart,
  type Port,
  smallestApart,
} from './encode-model.ts';

const { onnx } = onnxProto;

/** A graph whose inputs and outputs others know by name. */
export interface OpenGraph {
  graph: Graph;
  inputs: readonly Port[];
  outputs: readonly Port[];
}

/** The bytes of a model, in pieces: weights are not copied. */
export interface ModelParts {
  /** The `.onnx` file. */
  model: readonly Uint8Array[];
  /** The file beside it, when weights are external. */
  data: readonly Uint8Array[];
}

/** Numbers of the fields written here (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). */
const fields = { graphOfModel: 7, initializerOfGraph: 5, rawDataOfTensor: 9 } as const;

/** Data that is mapped into memory begins at a page. */
const page = 4096;

/**
 * The ONNX model of a graph (opset 18) as protobuf. A message above 2 GiB cannot be read, so large models keep their
 * weights in a file of their own.
 *
 * @param dataFile name of the file for the weights, beside the model's; without it they are in the model
 * @throws AgentRlError `ENGINE_FAILED` when the model would have more than 2 GiB.
 */
export function modelParts({ graph, inputs, outputs }: OpenGraph, dataFile?: string): ModelParts {
  const external = new DataFile(dataFile);
  const rest = onnx.GraphProto.encode(
    onnx.GraphProto.create({
      name: 'model',
      node: graph.nodes.map(encodeNode),
      input: inputs.map(encodePort),
      output: outputs.map(encodePort),
    }),
  ).finish();
  const initializers = graph.initializers.flatMap((one) =>
    message(fields.initializerOfGraph, external.add(one) ?? inside(one)),
  );
  const head = onnx.ModelProto.encode(onnx.ModelProto.create(modelHead)).finish();
  const model = [head, ...message(fields.graphOfModel, [rest, ...initializers])];
  const bytes = byteCount(model);
  if (bytes <= mostBytes) return { model, data: external.pieces };
  throw new AgentRlError(
    'ENGINE_FAILED',
    `An ONNX file may have at most ${mostBytes} bytes, and this one would have ${bytes}; store its weights in a separate file.`,
  );
}

const described = ({ name, shape, dtype }: Initializer, more: object = {}): Uint8Array =>
  onnx.TensorProto.encode(
    onnx.TensorProto.create({ name, dims: [...shape], dataType: elementTypes[dtype], ...more }),
  ).finish();

const inside = (one: Initializer): readonly Uint8Array[] => [
  described(one),
  ...message(fields.rawDataOfTensor, [one.bytes]),
];

class DataFile {
  readonly pieces: Uint8Array[] = [];
  #end = 0;

  constructor(private readonly name: string | undefined) {}

  /** The tensor as a reference into this file, or `undefined` when it belongs inside the model. */
  add(one: Initializer): readonly Uint8Array[] | undefined {
    if (this.name === undefined || one.bytes.byteLength < smallestApart) return undefined;
    const gap = (page - (this.#end % page)) % page;
    if (gap > 0) this.pieces.push(new Uint8Array(gap));
    const offset = this.#end + gap;
    this.pieces.push(one.bytes);
    this.#end = offset + one.bytes.byteLength;
    const place = { location: this.name, offset, length: one.bytes.byteLength };
    return [described(one, placedApart(place))];
  }
}

/** A field that holds bytes: its number and kind, their count, the bytes. */
function message(field: number, pieces: readonly Uint8Array[]): Uint8Array[] {
  return [Uint8Array.from([...varint(field * 8 + 2), ...varint(byteCount(pieces))]), ...pieces];
}

/** A number as protobuf writes it: seven bits a byte, lowest first, the top bit on all but the last. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return [...bytes, left];
}

export const byteCount = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
