import { describe, expect, test } from '@jest/globals';
import type { ProgramBody } from '#agent_rl/engine/engine.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';
import { expectSameAsOracle } from '#tests/support/engine-oracle.ts';
import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  record,
} from '#tests/support/properties.ts';

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
  test('holds no large constant for the seed of a gradient', () => {
    const body: ProgramBody = ({ x }) => ({
      gradient: tf.grad((v: Tensor) => tf.sum(tf.mul(tf.mean(tf.exp(v), -1), 3)))(x!),
    });
    expect(constantBytes(body)).toBeLessThan(100);
  });

  test('holds no large constant for zeros, ones and fills', () => {
    const body: ProgramBody = ({ x }) => ({
      y: tf.add(tf.mul(x!, filled([64, 128], 2)), tf.zeros([64, 128])),
    });
    expect(constantBytes(body)).toBeLessThan(100);
  });

  test('adds no zeros and multiplies by no ones', () => {
    const body: ProgramBody = ({ x }) => ({
      y: tf.mul(tf.add(x!, tf.zeros([64, 128])), tf.ones([64, 128])),
    });
    expect(operatorsOf(body)).toEqual([]);
  });

  test('leaves broadcasting to the operator that follows', () => {
    const body: ProgramBody = ({ x }) => ({
      y: tf.sub(x!, tf.tile(tf.mean(x!, -1, true), [1, 128])),
    });
    expect(operatorsOf(body)).toEqual(['ReduceMean', 'Sub']);
  });
});

const operand = record({
  ones: array(boolean(), { minLength: 3, maxLength: 3 }),
  kind: constantFrom('input', 'repeated', 'filled'),
});

describe('A traced elementwise operation', () => {
  test('broadcasts its operands as tfjs does, however they were made', async () => {
    const sizes = array(integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 });
    await assert(
      asyncProperty(sizes, operand, operand, async (shape, first, second) => {
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
