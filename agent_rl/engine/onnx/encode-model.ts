import onnxProto from 'onnx-proto';
import { AgentRlError } from '../../core/errors.ts';
import {
  elementTypes,
  type AttributeValue,
  type GraphBody,
  type GraphDType,
  type GraphNode,
  type Initializer,
} from '../trace/graph.ts';
import type { TracedProgram } from '../trace/trace-program.ts';

const { onnx } = onnxProto;

const encodeAttribute = (name: string, value: AttributeValue): object => {
  const { AttributeType } = onnx.AttributeProto;
  if (typeof value === 'number') return { name, type: AttributeType.INT, i: value };
  if (typeof value === 'string')
    return { name, type: AttributeType.STRING, s: new TextEncoder().encode(value) };
  if ('float' in value) return { name, type: AttributeType.FLOAT, f: value.float };
  return { name, type: AttributeType.INTS, ints: value };
};

/** Operators that ONNX Runtime adds to ONNX's own. */
const contributed = new Set(['FusedMatMul', 'MatMulNBits', 'RotaryEmbedding']);

export const encodeNode = (node: GraphNode, index: number): object => ({
  name: `${node.operator}_${index}`,
  opType: node.operator,
  domain: contributed.has(node.operator) ? 'com.microsoft' : '',
  input: node.inputs,
  output: node.outputs,
  attribute: [
    ...Object.entries(node.attributes).map(([name, value]) => encodeAttribute(name, value)),
    ...(node.body === undefined ? [] : [encodeBody(node.body)]),
  ],
});

const encodeBodyPort = ({ name, dtype, shape }: GraphBody['inputs'][number]): object => ({
  name,
  type: {
    tensorType: {
      elemType: elementTypes[dtype],
      shape: shape && { dim: shape.map((size) => ({ dimValue: size })) },
    },
  },
});

/** What every round of a loop does, as its attribute. */
function encodeBody({ nodes, inputs, outputs }: GraphBody): object {
  const g = {
    name: 'round',
    node: nodes.map(encodeNode),
    input: inputs.map(encodeBodyPort),
    output: outputs.map(encodeBodyPort),
  };
  return { name: 'body', type: onnx.AttributeProto.AttributeType.GRAPH, g };
}

/** An input or output of a model. */
export interface Port {
  name: string;
  /** A size known only when the model runs is a name, the same wherever it is the same. */
  shape: readonly (number | string)[];
  dtype: GraphDType;
}

export const encodePort = ({ name, shape, dtype }: Port): object => {
  const dim = shape.map((size) =>
    typeof size === 'number' ? { dimValue: size } : { dimParam: size },
  );
  return { name, type: { tensorType: { elemType: elementTypes[dtype], shape: { dim } } } };
};

/** The header that every model has. */
export const modelHead = {
  irVersion: 8,
  producerName: 'agent_rl',
  opsetImport: [
    { domain: '', version: 18 },
    { domain: 'com.microsoft', version: 1 },
  ],
};

/** Graph name of the output `name`, kept distinct from input names, which may be equal. */
export const outputLabel = (name: string): string => `output:${name}`;

/** Most bytes a protobuf message may have. */
export const mostBytes = 2 ** 31 - 1;

/** The parts that a model is encoded from. */
export interface ModelGraph {
  nodes: readonly GraphNode[];
  initializers: readonly Initializer[];
  inputs: readonly Port[];
  outputs: readonly Port[];
  /** Results of nodes, where ONNX Runtime is to know their shapes and cannot find them by itself. */
  results?: readonly Port[];
  /** Name in the graph of each output, in the order of `outputs`. */
  outputNames: readonly string[];
}

/** A model as protobuf bytes, and what it only names. */
export interface EncodedModel {
  bytes: Uint8Array;
  apart: readonly Apart[];
}

/** The numbers of a constant, under the name that the model has for them. */
export interface Apart {
  path: string;
  data: Uint8Array;
}

/** Shapes and scalars stay in the model, where ONNX Runtime reads them while it infers shapes. */
export const smallestApart = 1024;

const assertFits = (initializers: readonly Initializer[]): void => {
  const bytes = initializers.reduce((sum, { bytes: own }) => sum + own.byteLength, 0);
  if (bytes <= mostBytes) return;
  throw new AgentRlError(
    'ENGINE_FAILED',
    `Constants created inside a program may take at most ${mostBytes} bytes, got ${bytes}; pass them in as inputs or as constants.`,
  );
};

/** Where a tensor's numbers are: in another file, or in memory under its name. */
export const placedApart = (place: { location: string; offset: number; length: number }) => ({
  dataLocation: onnx.TensorProto.DataLocation.EXTERNAL,
  externalData: Object.entries(place).map(([key, value]) => ({ key, value: String(value) })),
});

/**
 * What results are called in the graph. One that no operator gives, as it is an input or a constant, or that has two
 * names, is copied.
 */
function labelsOf({ nodes, outputs, outputNames }: ModelGraph) {
  const given = new Set(nodes.flatMap((node) => node.outputs));
  const labels = new Map<string, string>();
  const copies: GraphNode[] = [];
  for (const [index, { name }] of outputs.entries()) {
    const [value, label] = [outputNames[index]!, outputLabel(name)];
    if (given.has(value) && !labels.has(value)) labels.set(value, label);
    else copies.push({ operator: 'Identity', inputs: [value], outputs: [label], attributes: {} });
  }
  return { labels, copies };
}

/** The ONNX model (opset 18) of a traced program. @throws AgentRlError as `encodeGraph` */
export const encodeModel = (
  { graph, outputs, outputNames }: TracedProgram,
  given?: Readonly<Record<string, unknown>>,
): EncodedModel => {
  const { nodes, initializers, inputs } = graph;
  return encodeGraph({ nodes, initializers, inputs, outputs, outputNames }, given);
};

const renamed = (node: GraphNode, named: (name: string) => string): GraphNode => ({
  ...node,
  inputs: node.inputs.map(named),
  outputs: node.outputs.map(named),
  body: node.body && {
    ...node.body,
    nodes: node.body.nodes.map((inner) => renamed(inner, named)),
  },
});

/**
 * The ONNX model (opset 18) of a graph.
 *
 * @param given by name, constants that were given to the program: they are not copied into the model
 * @throws AgentRlError `ENGINE_FAILED` where the rest has more than 2 GiB
 */
export function encodeGraph(
  graph: ModelGraph,
  given: Readonly<Record<string, unknown>> = {},
): EncodedModel {
  const isApart = ({ name, bytes }: Initializer): boolean =>
    Object.hasOwn(given, name) && bytes.byteLength >= smallestApart;
  const apart = graph.initializers.filter(isApart);
  assertFits(graph.initializers.filter((one) => !isApart(one)));
  const { labels, copies } = labelsOf(graph);
  const named = (name: string): string => labels.get(name) ?? name;
  const nodes = [...graph.nodes, ...copies].map((node) => renamed(node, named));
  const model = {
    ...modelHead,
    graph: {
      name: 'program',
      node: nodes.map(encodeNode),
      initializer: graph.initializers.map((one) => ({
        name: one.name,
        dims: [...one.shape],
        dataType: elementTypes[one.dtype],
        ...(isApart(one)
          ? placedApart({ location: one.name, offset: 0, length: one.bytes.byteLength })
          : { rawData: one.bytes }),
      })),
      input: graph.inputs.map(encodePort),
      output: graph.outputs.map((port) => encodePort({ ...port, name: outputLabel(port.name) })),
      valueInfo: (graph.results ?? []).filter(({ name }) => !labels.has(name)).map(encodePort),
    },
  };
  return {
    bytes: onnx.ModelProto.encode(onnx.ModelProto.create(model)).finish(),
    apart: apart.map(({ name, bytes }) => ({ path: name, data: bytes })),
  };
}
