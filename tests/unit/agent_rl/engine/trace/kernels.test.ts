import { describe, expect, test } from '@jest/globals';
import { float, type ProgramBody } from '#agent_rl/engine/engine.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { traceKernels } from '#agent_rl/engine/trace/install.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';
import { expectSameAsOracle, type RandomInputs } from '#tests/support/engine-oracle.ts';
import * as fc from '#tests/support/properties.ts';

const { fill: filled } = tf;

type Operation = (inputs: Record<string, Tensor>) => Tensor | Tensor[];

const outputsOf = (result: Tensor | Tensor[]): Record<string, Tensor> => {
  const tensors = Array.isArray(result) ? result : [result];
  return Object.fromEntries(
    tensors.map((tensor, index) => [
      `y${index}`,
      tensor.dtype === 'bool' ? tf.cast(tensor, 'int32') : tensor,
    ]),
  );
};

/** Value, and the gradient of a weighted sum of the values with respect to every input. */
const withGradients =
  (operation: Operation) =>
  (inputs: Record<string, Tensor>): Record<string, Tensor> => {
    const names = Object.keys(inputs);
    const total = (...tensors: Tensor[]) => {
      const result = operation(Object.fromEntries(names.map((name, i) => [name, tensors[i]!])));
      const parts = (Array.isArray(result) ? result : [result]).map((part) =>
        tf.sum(tf.mul(part, tf.cos(part))),
      );
      return tf.addN(parts) as ReturnType<typeof tf.scalar>;
    };
    const gradients = tf.grads(total)(names.map((name) => inputs[name]!));
    return {
      ...outputsOf(operation(inputs)),
      ...Object.fromEntries(gradients.map((gradient, i) => [`gradient ${names[i]}`, gradient])),
    };
  };

/** Inputs of these shapes. */
const of = (
  shapes: Record<string, number[]>,
  more: Partial<RandomInputs[string]> = {},
): RandomInputs =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, { shape, ...more }]));
const plain = of({ x: [3, 4] });
const positive = of({ x: [3, 4] }, { positive: true });
const matrix = of({ x: [2, 3, 4] });
const ab = of({ a: [3, 4], b: [3, 4] });
const rowAndColumn = of({ a: [3, 1], b: [2, 1, 4] });
const positiveB = { ...of({ a: [3, 4] }), ...of({ b: [4] }, { positive: true }) };
const wholeA = of({ a: [3, 4] }, { low: -9, high: 9 });
const whole = { ...wholeA, ...of({ b: [4] }, { low: 1, high: 5 }) };
const wholeNegative = { ...wholeA, ...of({ b: [4] }, { low: -5, high: -1 }) };
const shares = ({ a, b }: Record<string, Tensor>) =>
  tf.div(tf.cast(b!, 'float32'), tf.cast(a!, 'float32'));
const pads = [1, 0].map((before, i): [number, number] => [before, 2 * i]);

type Case = [string, RandomInputs, Operation];
/** The kernels of functions that have the same name in tfjs. */
const named = (names: string, inputs: RandomInputs): Case[] =>
  names.split(' ').map((name) => {
    const own = `${name.charAt(0).toLowerCase()}${name.slice(1)}` as 'abs';
    return [
      name,
      inputs,
      (given) => (tf[own] as (...all: Tensor[]) => Tensor)(...Object.values(given)),
    ];
  });

const product = (a: number[], b: number[], ...transposed: [boolean, boolean]): Case => [
  'BatchMatMul',
  of({ a, b }),
  (given) => tf.matMul(given['a']!, given['b']!, ...transposed),
];

const differentiable: Case[] = [
  ...named('Abs Cos Erf Exp Expm1 LogSoftmax Neg Relu Sigmoid Sin Softplus Square Tanh', plain),
  ...named('Log Log1p Reciprocal Rsqrt Sqrt', positive),
  ...named('Maximum SquaredDifference', ab),
  ['Add', ab, ({ a, b }) => tf.add(a!, b!)],
  ['Add', rowAndColumn, ({ a, b }) => tf.add(a!, b!)],
  ['AddN', ab, ({ a, b }) => tf.addN([a!, b!, a!])],
  product([3, 4], [4, 5], false, false),
  product([4, 3], [5, 4], true, true),
  product([2, 3, 4, 5], [2, 3, 6, 5], false, true),
  product([2, 5, 3], [2, 5, 4], true, false),
  ['BroadcastTo', of({ x: [3, 1] }), ({ x }) => tf.broadcastTo(x!, [2, 3, 4])],
  ['ClipByValue', plain, ({ x }) => tf.clipByValue(x!, -0.5, 0.7)],
  ['Concat', ab, ({ a, b }) => tf.concat([a!, b!, a!], 1)],
  ['Cumsum', matrix, ({ x }) => tf.cumsum(x!, 1)],
  ['Cumsum', plain, ({ x }) => tf.cumsum(x!, -1, true, true)],
  ['DivNoNan', positiveB, ({ a, b }) => tf.divNoNan(a!, b!)],
  ['ExpandDims', plain, ({ x }) => tf.expandDims(x!, -1)],
  ['Max', matrix, ({ x }) => tf.max(x!, [1])],
  ['Max', matrix, ({ x }) => tf.max(x!, -1, true)],
  ['Mean', matrix, ({ x }) => tf.mean(x!, [0, 2])],
  ['Mean', plain, ({ x }) => tf.mean(x!)],
  ['Min', matrix, ({ x }) => tf.min(x!, 2)],
  ['Minimum', positiveB, ({ a, b }) => tf.minimum(a!, b!)],
  ['Multiply', rowAndColumn, ({ a, b }) => tf.mul(a!, b!)],
  ['Pack', ab, ({ a, b }) => tf.stack([a!, b!], 1)],
  ['PadV2', plain, ({ x }) => tf.pad(x!, pads, 0.5)],
  ['Pow', positive, ({ x }) => tf.pow(x!, 1.7)],
  ['RealDiv', positiveB, ({ a, b }) => tf.div(a!, b!)],
  ['Reshape', matrix, ({ x }) => tf.reshape(x!, [4, -1])],
  ['Reverse', matrix, ({ x }) => tf.reverse(x!, [0, 2])],
  ['Select', ab, ({ a, b }) => tf.where(tf.greater(a!, b!), a!, tf.mul(b!, 2))],
  ['Select', positiveB, ({ a, b }) => tf.where(tf.greater(b!, 0.6), a!, b!)],
  ['Slice', matrix, ({ x }) => tf.slice(x!, [0, 1, 1], [-1, 2, 3])],
  ['Softmax', matrix, ({ x }) => tf.softmax(x!)],
  ['SplitV', matrix, ({ x }) => tf.split(x!, [1, 3], 2)],
  ['Sub', rowAndColumn, ({ a, b }) => tf.sub(a!, b!)],
  ['Sum', matrix, ({ x }) => tf.sum(x!, [-1, 0], true)],
  ['Sum', plain, ({ x }) => tf.sum(x!)],
  ['Tile', plain, ({ x }) => tf.tile(x!, [2, 3])],
  ['Transpose', matrix, ({ x }) => tf.transpose(x!, [2, 0, 1])],
  ['Unpack', matrix, ({ x }) => tf.unstack(x!, 1)],
  ['log-sum-exp', matrix, ({ x }) => tf.logSumExp(x!, -1)],
];

const valuesOnly: Case[] = [
  ...named('Ceil Floor OnesLike Round Sign', plain),
  ...named('Equal FloorDiv GreaterEqual Less Mod NotEqual', whole),
  ...named('Greater LessEqual', ab),
  ...named('FloorDiv', wholeNegative),
  ...named('Mod', positiveB),
  ['All', whole, ({ a }) => tf.all(tf.greater(a!, -5), 1)],
  ['Any', whole, ({ a }) => tf.any(tf.greater(a!, 5), 0)],
  ['ArgMax', matrix, ({ x }) => tf.argMax(x!, -1)],
  ['ArgMin', matrix, ({ x }) => tf.argMin(x!, 1)],
  ['Cast', plain, ({ x }) => [tf.cast(x!, 'int32'), tf.cast(x!, 'bool')]],
  ['Cast', whole, ({ a }) => [tf.cast(a!, 'float32'), tf.cast(tf.cast(a!, 'bool'), 'float32')]],
  ['Cumsum', whole, ({ a }) => tf.cumsum(a!, 1)],
  ['Fill', plain, ({ x }) => tf.add(x!, filled([4], 2.5))],
  ['Identity', plain, ({ x }) => tf.clone(x!)],
  ['IsFinite', whole, (given) => tf.isFinite(shares(given))],
  ['IsInf', whole, (given) => tf.isInf(shares(given))],
  ['IsNan', plain, ({ x }) => tf.isNaN(tf.sqrt(x!))],
  ['LogicalAnd', ab, ({ a, b }) => tf.logicalAnd(tf.greater(a!, 0), tf.greater(b!, 0))],
  ['LogicalNot', ab, ({ a }) => tf.logicalNot(tf.greater(a!, 0))],
  ['LogicalOr', ab, ({ a, b }) => tf.logicalOr(tf.greater(a!, 0), tf.greater(b!, 0))],
  ['Max', whole, ({ a }) => tf.max(a!, 0)],
  ['Mean', whole, ({ a }) => tf.mean(a!, 1)],
  ['Multiply', whole, ({ a, b }) => tf.mul(a!, b!)],
  ['OneHot', { i: { shape: [2, 3], high: 5 } }, ({ i }) => tf.oneHot(i!, 5, 2, -1)],
  ['Prod', plain, ({ x }) => tf.prod(x!, 1)],
  ['Range', plain, ({ x }) => tf.mul(x!, tf.range(0, 4))],
  ['Step', plain, ({ x }) => tf.step(x!, 0.25)],
  ['Sub', whole, ({ a, b }) => tf.sub(a!, b!)],
  ['Sum', whole, ({ a }) => tf.sum(a!, 0)],
  ['TopK', plain, ({ x }) => Object.values(tf.topk(x!, 2))],
  ['ZerosLike', whole, ({ a }) => tf.zerosLike(a!)],
  [
    'GatherV2',
    { x: { shape: [5, 3] }, i: { shape: [2, 4], high: 5 } },
    ({ x, i }) => [tf.gather(x!, i!), tf.gather(x!, tf.range(0, 2, 1, 'int32'), 1)],
  ],
  [
    'UnsortedSegmentSum',
    { x: { shape: [6, 3] }, i: { shape: [6], high: 4 } },
    ({ x, i }) => [
      tf.unsortedSegmentSum(x!, i as ReturnType<typeof tf.tensor1d>, 4),
      tf.grad((v: Tensor) => tf.sum(tf.square(tf.gather(v, i!))))(x!),
    ],
  ],
  [
    'GatherNd',
    { x: { shape: [4, 3] }, i: { shape: [5, 2], high: 3 } },
    ({ x, i }) => [
      tf.gatherND(x!, i!),
      tf.grad((v: Tensor) => tf.sum(tf.square(tf.gatherND(v, i!))))(x!),
    ],
  ],
  [
    'ScatterNd',
    { x: { shape: [5] }, i: { shape: [5, 1], high: 3 } },
    ({ x, i }) => tf.scatterND(i!, x!, [3]),
  ],
];

describe('A traced kernel', () => {
  test.each(differentiable)('%s equals tfjs, gradients included (%j)', (_name, inputs, operation) =>
    expectSameAsOracle(inputs, withGradients(operation)),
  );

  test.each(valuesOnly)('%s equals tfjs (%j)', (_name, inputs, operation) =>
    expectSameAsOracle(inputs, (tensors) => outputsOf(operation(tensors))),
  );

  test('has a case here for every name in the table', () => {
    const tested = new Set([...differentiable, ...valuesOnly].map(([name]) => name));
    expect(Object.keys(traceKernels).filter((name) => !tested.has(name))).toEqual([]);
  });
});

const large = float('x', [64, 128]);

const constantBytes = (body: ProgramBody): number =>
  traceProgram([large], body).graph.initializers.reduce(
    (sum, { bytes }) => sum + bytes.byteLength,
    0,
  );

const operatorsOf = (body: ProgramBody): string[] =>
  traceProgram([large], body).graph.nodes.map(({ operator }) => operator);

const total = (v: Tensor) => tf.sum(tf.mul(tf.mean(tf.exp(v), -1), 3));
test.each<[string, (x: Tensor) => Tensor]>([
  ['the seed of a gradient', tf.grad(total)],
  ['zeros and fills', (x) => tf.add(tf.mul(x, filled([64, 128], 2)), tf.zeros([64, 128]))],
])('a traced program holds no large constant for %s', (_, body) => {
  expect(constantBytes(({ x }) => ({ y: body(x!) }))).toBeLessThan(100);
});

test.each<[string, string[], (x: Tensor) => Tensor]>([
  ['no zeros added', [], (x) => tf.mul(tf.add(x, tf.zeros([64, 128])), tf.ones([64, 128]))],
  [
    'broadcasting left to what follows',
    ['ReduceMean', 'Sub'],
    (x) => tf.sub(x, tf.tile(tf.mean(x, -1, true), [1, 128])),
  ],
])('a traced program has only the operators that it needs: %s', (_, operators, body) => {
  expect(operatorsOf(({ x }) => ({ y: body(x!) }))).toEqual(operators);
});

const operand = fc.record({
  ones: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  kind: fc.constantFrom('input', 'repeated', 'filled'),
});

test('a traced elementwise operation broadcasts its operands as tfjs does, however they were made', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(sizes, operand, operand, async (shape, first, second) => {
      const shapeOf = (ones: boolean[]): number[] => shape.map((size, i) => (ones[i] ? 1 : size));
      const made = (kind: string, x: Tensor): Tensor => {
        if (kind === 'filled') return tf.fill(x.shape, 0.5);
        return kind === 'repeated' ? tf.tile(x, [1, 1, shape[2]! / x.shape[2]!]) : x;
      };
      await expectSameAsOracle(
        { a: { shape: shapeOf(first.ones) }, b: { shape: shapeOf(second.ones) } },
        ({ a, b }) => {
          const [x, y] = [made(first.kind, a!), made(second.kind, b!)];
          const sum = tf.add(x, y);
          return { sum, chosen: tf.where(tf.greater(x, y), sum, tf.mul(x, y)) };
        },
      );
    }),
    { numRuns: 60 },
  );
});
