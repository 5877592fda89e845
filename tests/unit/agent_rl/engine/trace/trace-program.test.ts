import { describe, expect, test } from '@jest/globals';
import type { ProgramBody } from '#agent_rl/engine/engine.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';
import { expectSameAsOracle } from '#tests/support/engine-oracle.ts';
import * as fc from '#tests/support/properties.ts';

const { fill: filled } = tf;
const matrix = { name: 'x', shape: [64, 128], dtype: 'float32' } as const;

const constantBytes = (body: ProgramBody): number =>
  traceProgram([matrix], body).graph.initializers.reduce(
    (sum, { bytes }) => sum + bytes.byteLength,
    0,
  );

const operatorsOf = (body: ProgramBody): string[] =>
  traceProgram([matrix], body).graph.nodes.map(({ operator }) => operator);

describe('A traced program', () => {
  const total = (v: Tensor) => tf.sum(tf.mul(tf.mean(tf.exp(v), -1), 3));
  test.each<[string, (x: Tensor) => Tensor]>([
    ['the seed of a gradient', tf.grad(total)],
    ['zeros and fills', (x) => tf.add(tf.mul(x, filled([64, 128], 2)), tf.zeros([64, 128]))],
  ])('holds no large constant for %s', (_, body) => {
    expect(constantBytes(({ x }) => ({ y: body(x!) }))).toBeLessThan(100);
  });

  test.each<[string, string[], (x: Tensor) => Tensor]>([
    ['no zeros added', [], (x) => tf.mul(tf.add(x, tf.zeros([64, 128])), tf.ones([64, 128]))],
    [
      'broadcasting left to what follows',
      ['ReduceMean', 'Sub'],
      (x) => tf.sub(x, tf.tile(tf.mean(x, -1, true), [1, 128])),
    ],
  ])('has only the operators that it needs: %s', (_, operators, body) => {
    expect(operatorsOf(({ x }) => ({ y: body(x!) }))).toEqual(operators);
  });
});

const operand = fc.record({
  ones: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  kind: fc.constantFrom('input', 'repeated', 'filled'),
});

describe('A traced elementwise operation', () => {
  test('broadcasts its operands as tfjs does, however they were made', async () => {
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
});
