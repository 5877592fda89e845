import { sizeOf } from '../../check-inputs.ts';
import type { Graph } from '../graph.ts';
import {
  axesAttribute,
  axisAttribute,
  computed,
  inputOf,
  type KernelAttributes,
  type KernelTable,
  type TraceKernel,
} from '../kernel.ts';
import { uniform, uniformNumber, type TraceDType, type Value } from '../value.ts';

interface Reduction {
  axes: number[];
  keepDims: boolean;
  shape: number[];
}

const reductionOf = (x: Value, attributes: KernelAttributes): Reduction => {
  const axes = axesAttribute(attributes, 'axis', x.shape);
  const keepDims = Boolean(attributes['keepDims']);
  const shape = keepDims
    ? x.shape.map((size, index) => (axes.includes(index) ? 1 : size))
    : x.shape.filter((_, index) => !axes.includes(index));
  return { axes, keepDims, shape };
};

const emitReduction = (graph: Graph, operator: string, x: string, reduction: Reduction): string =>
  reduction.axes.length === 0
    ? x
    : graph.emit(operator, [x, graph.int64s(reduction.axes)], {
        attributes: { keepdims: { int: reduction.keepDims ? 1 : 0 } },
      });

const reduce =
  (operator: string, outputType?: TraceDType): TraceKernel =>
  (graph, inputs, attributes) => {
    const x = inputOf(inputs, 'x');
    const reduction = reductionOf(x, attributes);
    const dtype = outputType ?? x.dtype;
    const known = uniformNumber(x);
    const count = sizeOf(reduction.axes.map((axis) => x.shape[axis]!));
    if (known !== undefined && operator === 'ReduceSum') {
      return uniform(known * count, reduction.shape, dtype);
    }
    const asFloat = operator === 'ReduceMean' && x.dtype !== 'float32';
    const name = graph.nameOf(x);
    const source = asFloat ? graph.emit('Cast', [name], { attributes: { to: { int: 1 } } }) : name;
    return computed(emitReduction(graph, operator, source, reduction), reduction.shape, dtype);
  };

/** `all` and `any`: ONNX reduces no booleans, so they are reduced as integers. */
const reduceBoolean =
  (operator: string): TraceKernel =>
  (graph, inputs, attributes) => {
    const x = inputOf(inputs, 'x');
    const reduction = reductionOf(x, attributes);
    const asInt = graph.emit('Cast', [graph.nameOf(x)], { attributes: { to: { int: 6 } } });
    const reduced = emitReduction(graph, operator, asInt, reduction);
    const name = graph.emit('Cast', [reduced], { attributes: { to: { int: 9 } } });
    return computed(name, reduction.shape, 'bool');
  };

const argReduce =
  (operator: string): TraceKernel =>
  (graph, inputs, attributes) => {
    const x = inputOf(inputs, 'x');
    const { axes, shape } = reductionOf(x, { axis: attributes['axis'] });
    const index = graph.emit(operator, [graph.nameOf(x)], {
      attributes: { axis: { int: axes[0]! }, keepdims: { int: 0 } },
    });
    const name = graph.emit('Cast', [index], { attributes: { to: { int: 6 } } });
    return computed(name, shape, 'int32');
  };

const cumulativeSum: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const axis = axisAttribute(attributes, 'axis', x.shape);
  const name = graph.emit('CumSum', [graph.nameOf(x), graph.scalar(axis, 'int32')], {
    attributes: {
      exclusive: { int: attributes['exclusive'] ? 1 : 0 },
      reverse: { int: attributes['reverse'] ? 1 : 0 },
    },
  });
  return computed(name, x.shape, x.dtype);
};

const normalised =
  (operator: string, axisName: string): TraceKernel =>
  (graph, inputs, attributes) => {
    const logits = inputOf(inputs, 'logits');
    const name = graph.emit(operator, [graph.nameOf(logits)], {
      attributes: { axis: { int: Number(attributes[axisName]) } },
    });
    return computed(name, logits.shape);
  };

/** The k largest along the last axis; ties go to the lower index, as in tfjs. */
const topK: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const k = Number(attributes['k']);
  const [values, indices] = graph.emitMany('TopK', [graph.nameOf(x), graph.int64s([k])], {
    attributes: { axis: { int: -1 }, largest: { int: 1 }, sorted: { int: 1 } },
    outputs: 2,
  });
  const shape = [...x.shape.slice(0, -1), k];
  const asInt = graph.emit('Cast', [indices!], { attributes: { to: { int: 6 } } });
  return [computed(values!, shape, x.dtype), computed(asInt, shape, 'int32')];
};

/** Kernels that combine elements along axes. */
export const reduceKernels: KernelTable = {
  Sum: reduce('ReduceSum'),
  Mean: reduce('ReduceMean', 'float32'),
  Max: (graph, inputs, attributes) =>
    reduce('ReduceMax')(graph, inputs, {
      ...attributes,
      axis: attributes['reductionIndices'] ?? attributes['axis'],
    }),
  Min: reduce('ReduceMin'),
  Prod: reduce('ReduceProd'),
  All: reduceBoolean('ReduceMin'),
  Any: reduceBoolean('ReduceMax'),
  ArgMax: argReduce('ArgMax'),
  ArgMin: argReduce('ArgMin'),
  Cumsum: cumulativeSum,
  Softmax: normalised('Softmax', 'dim'),
  LogSoftmax: normalised('LogSoftmax', 'axis'),
  TopK: topK,
};
