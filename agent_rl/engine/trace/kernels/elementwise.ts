import { tfjs } from '../../tfjs.ts';
import type { Graph } from '../graph.ts';
import type { KernelTable, TraceKernel } from '../kernel.ts';
import {
  broadcast,
  computed,
  narrowed,
  traceDType,
  uniform,
  uniformNumber,
  type TraceDType,
  type Value,
} from '../value.ts';

const broadcastShape = (a: Value, b: Value): number[] =>
  tfjs.broadcast_util.assertAndGetBroadcastShape([...a.shape], [...b.shape]);

type Unary = (graph: Graph, x: string) => string;

/** An operator of ONNX, or several, on each element; broadcasting waits until after it. */
const unary =
  (operator: string | Unary, outputType?: TraceDType): TraceKernel =>
  (graph, { x }) => {
    const small = narrowed(x);
    const source = graph.nameOf(small);
    const name =
      typeof operator === 'string' ? graph.emit(operator, [source]) : operator(graph, source);
    return broadcast(computed(name, small.shape, outputType ?? x.dtype), x.shape);
  };

type Binary = (graph: Graph, a: string, b: string, dtype: TraceDType) => string;

const binary =
  (operator: string | Binary, outputType?: TraceDType): TraceKernel =>
  (graph, { a, b }) => {
    const shape = broadcastShape(a, b);
    const operands = graph.operands([a, b], shape);
    const [first, second] = operands;
    const name =
      typeof operator === 'string'
        ? graph.emit(operator, operands)
        : operator(graph, first!, second!, a.dtype);
    return computed(name, shape, outputType ?? a.dtype);
  };

/** `a op b` where one side equal to `neutral` everywhere leaves the other unchanged. */
const withNeutral =
  (operator: string, neutral: number, sides: 'ab' | 'b'): TraceKernel =>
  (graph, inputs, attributes) => {
    const { a, b } = inputs;
    const shape = broadcastShape(a, b);
    if (uniformNumber(b) === neutral) return broadcast(a, shape);
    if (sides === 'ab' && uniformNumber(a) === neutral) return broadcast(b, shape);
    return binary(operator)(graph, inputs, attributes);
  };

/** Integer division rounding towards minus infinity; ONNX truncates. */
const floorDivide: Binary = (graph, a, b, dtype) => {
  const quotient = graph.emit('Div', [a, b]);
  if (dtype === 'float32') return graph.emit('Floor', [quotient]);
  const zero = graph.scalar(0, 'int32');
  const rest = graph.emit('Sub', [a, graph.emit('Mul', [quotient, b])]);
  const below = [rest, b].map((x) => graph.emit('Less', [x, zero]));
  const signs = graph.emit('Xor', below);
  const inexact = graph.emit('Not', [graph.emit('Equal', [rest, zero])]);
  return graph.emit('Sub', [quotient, graph.cast(graph.emit('And', [signs, inexact]), 'int32')]);
};

/** Remainder with the sign of the divisor. */
const modulo: Binary = (graph, a, b, dtype) => {
  if (dtype === 'int32') return graph.emit('Mod', [a, b], { fmod: 0 });
  const multiple = graph.emit('Mul', [graph.emit('Floor', [graph.emit('Div', [a, b])]), b]);
  return graph.emit('Sub', [a, multiple]);
};

const squaredDifference: Binary = (graph, a, b) => {
  const difference = graph.emit('Sub', [a, b]);
  return graph.emit('Mul', [difference, difference]);
};

const divideNoNan: Binary = (graph, a, b) => {
  const zero = graph.scalar(0);
  const isZero = graph.emit('Equal', [b, zero]);
  const quotient = graph.emit('Div', [a, graph.emit('Where', [isZero, graph.scalar(1), b])]);
  return graph.emit('Where', [isZero, zero, quotient]);
};

/** tfjs's step: 1 above zero, `alpha` elsewhere. */
const step: TraceKernel = (graph, { x }, { alpha }) => {
  const positive = graph.emit('Greater', [graph.nameOf(x), graph.scalar(0, x.dtype)]);
  const branches = [1, alpha].map((value) => graph.scalar(value, x.dtype));
  return computed(graph.emit('Where', [positive, ...branches]), x.shape, x.dtype);
};

const clip: TraceKernel = (graph, { x }, { clipValueMin, clipValueMax }) => {
  const limits = [clipValueMin, clipValueMax].map((limit) => graph.scalar(limit, x.dtype));
  return computed(graph.emit('Clip', [graph.nameOf(x), ...limits]), x.shape, x.dtype);
};

const addAll: TraceKernel = (graph, inputs) => {
  const terms: Value[] = Object.values(inputs);
  const { shape, dtype } = terms[0]!;
  return computed(graph.emit('Sum', graph.operands(terms, shape)), shape, dtype);
};

const cast: TraceKernel = (graph, { x }, { dtype }) => {
  const to = traceDType(dtype);
  if (to === x.dtype) return x;
  const small = narrowed(x);
  const name = graph.nameOf(small);
  const isSet = (): string => graph.emit('Not', [graph.emit('Equal', [name, graph.scalar(0)])]);
  const result = x.dtype === 'float32' && to === 'bool' ? isSet() : graph.cast(name, to);
  return broadcast(computed(result, small.shape, to), x.shape);
};

const select: TraceKernel = (graph, { condition, t: yes, e: no }) => {
  const names = graph.operands([condition, yes, no], yes.shape);
  return computed(graph.emit('Where', names), yes.shape, yes.dtype);
};

const sameName =
  'Abs Ceil Cos Erf Exp Floor Log Neg Reciprocal Relu Round Sigmoid Sign Sin Softplus Sqrt Tanh';

/** Kernels that work on each element alone. */
export const elementwiseKernels: KernelTable = {
  ...Object.fromEntries(sameName.split(' ').map((name) => [name, unary(name)])),
  Expm1: unary((graph, x) => graph.emit('Sub', [graph.emit('Exp', [x]), graph.scalar(1)])),
  Log1p: unary((graph, x) => graph.emit('Log', [graph.emit('Add', [x, graph.scalar(1)])])),
  Rsqrt: unary((graph, x) => graph.emit('Reciprocal', [graph.emit('Sqrt', [x])])),
  Square: unary((graph, x) => graph.emit('Mul', [x, x])),
  Identity: (_graph, { x }) => x,
  Step: step,
  ClipByValue: clip,
  IsNan: unary('IsNaN', 'bool'),
  IsInf: unary('IsInf', 'bool'),
  IsFinite: unary((graph, x) => {
    const either = graph.emit('Or', [graph.emit('IsNaN', [x]), graph.emit('IsInf', [x])]);
    return graph.emit('Not', [either]);
  }, 'bool'),
  LogicalNot: unary('Not', 'bool'),
  Add: withNeutral('Add', 0, 'ab'),
  Sub: withNeutral('Sub', 0, 'b'),
  Multiply: withNeutral('Mul', 1, 'ab'),
  RealDiv: withNeutral('Div', 1, 'b'),
  DivNoNan: binary(divideNoNan),
  FloorDiv: binary(floorDivide),
  Mod: binary(modulo),
  Pow: withNeutral('Pow', 1, 'b'),
  Maximum: binary('Max'),
  Minimum: binary('Min'),
  SquaredDifference: binary(squaredDifference),
  AddN: addAll,
  Equal: binary('Equal', 'bool'),
  NotEqual: binary((graph, a, b) => graph.emit('Not', [graph.emit('Equal', [a, b])]), 'bool'),
  Greater: binary('Greater', 'bool'),
  GreaterEqual: binary('GreaterOrEqual', 'bool'),
  Less: binary('Less', 'bool'),
  LessEqual: binary('LessOrEqual', 'bool'),
  LogicalAnd: binary('And', 'bool'),
  LogicalOr: binary('Or', 'bool'),
  Fill: (_graph, _inputs, { value, shape, dtype }) => uniform(value, shape, traceDType(dtype)),
  ZerosLike: (_graph, { x }) => uniform(0, x.shape, x.dtype),
  OnesLike: (_graph, { x }) => uniform(1, x.shape, x.dtype),
  Cast: cast,
  Select: select,
};
