import { tfjs } from '../../tfjs.ts';
import type { Graph } from '../graph.ts';
import {
  computed,
  dtypeAttribute,
  inputOf,
  numberAttribute,
  numbersAttribute,
  type KernelTable,
  type TraceKernel,
} from '../kernel.ts';
import {
  broadcast,
  narrowed,
  uniform,
  uniformNumber,
  type TraceDType,
  type Value,
} from '../value.ts';

const broadcastShape = (a: Value, b: Value): number[] =>
  tfjs.broadcast_util.assertAndGetBroadcastShape([...a.shape], [...b.shape]);

type Unary = (graph: Graph, x: string, dtype: TraceDType) => string;

/** An operator on each element; broadcasting waits until after it. */
const unary =
  (record: Unary, outputType?: TraceDType): TraceKernel =>
  (graph, inputs) => {
    const x = inputOf(inputs, 'x');
    const small = narrowed(x);
    const name = record(graph, graph.nameOf(small), x.dtype);
    return broadcast(computed(name, small.shape, outputType ?? x.dtype), x.shape);
  };

const operator =
  (name: string): Unary =>
  (graph, x) =>
    graph.emit(name, [x]);

type Binary = (graph: Graph, a: string, b: string, dtype: TraceDType) => string;

const binary =
  (record: Binary, outputType?: TraceDType): TraceKernel =>
  (graph, inputs) => {
    const [a, b] = [inputOf(inputs, 'a'), inputOf(inputs, 'b')];
    const shape = broadcastShape(a, b);
    const [first, second] = graph.operands([a, b], shape);
    return computed(record(graph, first!, second!, a.dtype), shape, outputType ?? a.dtype);
  };

const pair =
  (name: string): Binary =>
  (graph, a, b) =>
    graph.emit(name, [a, b]);

/** `a op b` where one side equal to `neutral` everywhere leaves the other unchanged. */
const withNeutral =
  (kernel: TraceKernel, neutral: number, sides: readonly ('a' | 'b')[]): TraceKernel =>
  (graph, inputs, attributes) => {
    const [a, b] = [inputOf(inputs, 'a'), inputOf(inputs, 'b')];
    const shape = broadcastShape(a, b);
    if (sides.includes('b') && uniformNumber(b) === neutral) return broadcast(a, shape);
    if (sides.includes('a') && uniformNumber(a) === neutral) return broadcast(b, shape);
    return kernel(graph, inputs, attributes);
  };

const toInt = (graph: Graph, x: string): string =>
  graph.emit('Cast', [x], { attributes: { to: { int: 6 } } });

/** Integer division rounding towards minus infinity; ONNX truncates. */
const floorDivide: Binary = (graph, a, b, dtype) => {
  const quotient = graph.emit('Div', [a, b]);
  if (dtype === 'float32') return graph.emit('Floor', [quotient]);
  const zero = graph.scalar(0, 'int32');
  const rest = graph.emit('Sub', [a, graph.emit('Mul', [quotient, b])]);
  const signs = graph.emit('Xor', [
    graph.emit('Less', [rest, zero]),
    graph.emit('Less', [b, zero]),
  ]);
  const inexact = graph.emit('Not', [graph.emit('Equal', [rest, zero])]);
  return graph.emit('Sub', [quotient, toInt(graph, graph.emit('And', [signs, inexact]))]);
};

/** Remainder with the sign of the divisor. */
const modulo: Binary = (graph, a, b, dtype) => {
  if (dtype === 'int32') return graph.emit('Mod', [a, b], { attributes: { fmod: { int: 0 } } });
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
const step: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const positive = graph.emit('Greater', [graph.nameOf(x), graph.scalar(0, x.dtype)]);
  const alpha = Number(attributes['alpha'] ?? 0);
  const name = graph.emit('Where', [
    positive,
    graph.scalar(1, x.dtype),
    graph.scalar(alpha, x.dtype),
  ]);
  return computed(name, x.shape, x.dtype);
};

const clip: TraceKernel = (graph, inputs, attributes) => {
  const x = inputOf(inputs, 'x');
  const limits = [attributes['clipValueMin'], attributes['clipValueMax']];
  const [low, high] = limits.map((limit) => graph.scalar(Number(limit), x.dtype));
  return computed(graph.emit('Clip', [graph.nameOf(x), low!, high!]), x.shape, x.dtype);
};

const addAll: TraceKernel = (graph, inputs) => {
  const terms = Object.values(inputs);
  const first = terms[0]!;
  const names = graph.operands(terms, first.shape);
  return computed(graph.emit('Sum', names), first.shape, first.dtype);
};

const negate: Unary = operator('Neg');
const reciprocalRoot: Unary = (graph, x) => graph.emit('Reciprocal', [graph.emit('Sqrt', [x])]);
const exponentialLessOne: Unary = (graph, x) =>
  graph.emit('Sub', [graph.emit('Exp', [x]), graph.scalar(1)]);
const logOfOnePlus: Unary = (graph, x) =>
  graph.emit('Log', [graph.emit('Add', [x, graph.scalar(1)])]);
const square: Unary = (graph, x) => graph.emit('Mul', [x, x]);
const isFinite: Unary = (graph, x) =>
  graph.emit('Not', [graph.emit('Or', [graph.emit('IsNaN', [x]), graph.emit('IsInf', [x])])]);

const identity: TraceKernel = (_graph, inputs) => inputOf(inputs, 'x');

/** Kernels that work on each element alone. */
export const elementwiseKernels: KernelTable = {
  Abs: unary(operator('Abs')),
  Ceil: unary(operator('Ceil')),
  Cos: unary(operator('Cos')),
  Erf: unary(operator('Erf')),
  Exp: unary(operator('Exp')),
  Expm1: unary(exponentialLessOne),
  Floor: unary(operator('Floor')),
  Log: unary(operator('Log')),
  Log1p: unary(logOfOnePlus),
  Neg: unary(negate),
  Reciprocal: unary(operator('Reciprocal')),
  Relu: unary(operator('Relu')),
  Round: unary(operator('Round')),
  Rsqrt: unary(reciprocalRoot),
  Sigmoid: unary(operator('Sigmoid')),
  Sign: unary(operator('Sign')),
  Sin: unary(operator('Sin')),
  Softplus: unary(operator('Softplus')),
  Sqrt: unary(operator('Sqrt')),
  Square: unary(square),
  Tanh: unary(operator('Tanh')),
  Identity: identity,
  Step: step,
  ClipByValue: clip,
  IsNan: unary(operator('IsNaN'), 'bool'),
  IsInf: unary(operator('IsInf'), 'bool'),
  IsFinite: unary(isFinite, 'bool'),
  LogicalNot: unary(operator('Not'), 'bool'),
  Add: withNeutral(binary(pair('Add')), 0, ['a', 'b']),
  Sub: withNeutral(binary(pair('Sub')), 0, ['b']),
  Multiply: withNeutral(binary(pair('Mul')), 1, ['a', 'b']),
  RealDiv: withNeutral(binary(pair('Div')), 1, ['b']),
  DivNoNan: binary(divideNoNan),
  FloorDiv: binary(floorDivide),
  Mod: binary(modulo),
  Pow: withNeutral(binary(pair('Pow')), 1, ['b']),
  Maximum: binary(pair('Max')),
  Minimum: binary(pair('Min')),
  SquaredDifference: binary(squaredDifference),
  AddN: addAll,
  Equal: binary(pair('Equal'), 'bool'),
  NotEqual: binary((graph, a, b) => graph.emit('Not', [graph.emit('Equal', [a, b])]), 'bool'),
  Greater: binary(pair('Greater'), 'bool'),
  GreaterEqual: binary(pair('GreaterOrEqual'), 'bool'),
  Less: binary(pair('Less'), 'bool'),
  LessEqual: binary(pair('LessOrEqual'), 'bool'),
  LogicalAnd: binary(pair('And'), 'bool'),
  LogicalOr: binary(pair('Or'), 'bool'),
  Fill: (_graph, _inputs, attributes) =>
    uniform(
      numberAttribute(attributes, 'value'),
      numbersAttribute(attributes, 'shape'),
      dtypeAttribute(attributes, 'float32'),
    ),
  ZerosLike: (_graph, inputs) => uniform(0, inputOf(inputs, 'x').shape, inputOf(inputs, 'x').dtype),
  OnesLike: (_graph, inputs) => uniform(1, inputOf(inputs, 'x').shape, inputOf(inputs, 'x').dtype),
  Cast: (graph, inputs, attributes) => {
    const x = inputOf(inputs, 'x');
    const to = dtypeAttribute(attributes, x.dtype);
    if (to === x.dtype) return x;
    const small = narrowed(x);
    const name = graph.nameOf(small);
    const truncates = x.dtype === 'float32' && to === 'bool';
    const cast = truncates
      ? graph.emit('Not', [graph.emit('Equal', [name, graph.scalar(0)])])
      : graph.emit('Cast', [name], {
          attributes: { to: { int: { float32: 1, uint8: 2, int32: 6, bool: 9 }[to] } },
        });
    return broadcast(computed(cast, small.shape, to), x.shape);
  },
  Select: (graph, inputs) => {
    const [condition, yes, no] = ['condition', 't', 'e'].map((name) => inputOf(inputs, name));
    const names = graph.operands([condition!, yes!, no!], yes!.shape);
    return computed(graph.emit('Where', names), yes!.shape, yes!.dtype);
  },
};
