import { describe, expect, test } from '@jest/globals';
import type { ProgramBody } from '#agent_rl/engine/engine.ts';
import { peakBytes } from '#agent_rl/engine/onnx/peak-bytes.ts';
import { removeUnused } from '#agent_rl/engine/onnx/rewrite-graph.ts';
import { tf } from '#agent_rl/engine/ops.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';

const specs = [
  { name: 'x', shape: [10, 10], dtype: 'float32' },
  { name: 'w', shape: [10, 10], dtype: 'float32' },
] as const;

const traced = (body: ProgramBody) => {
  const program = traceProgram(specs, body);
  removeUnused(program);
  return program;
};
const matrix = 400;

describe('peakBytes', () => {
  test('counts a result and what it is computed from, not the inputs of the program', () => {
    // x w, then its product with w: both live while the second is computed.
    expect(peakBytes(traced(({ x, w }) => ({ y: tf.matMul(tf.matMul(x!, w!), w!) })))).toBe(
      2 * matrix,
    );
  });

  test('lets an element-wise operation write over what is not needed any more', () => {
    expect(peakBytes(traced(({ x, w }) => ({ y: tf.exp(tf.matMul(x!, w!)) })))).toBe(matrix);
  });

  test('and not over what is read again', () => {
    const body: ProgramBody = ({ x, w }) => {
      const product = tf.matMul(x!, w!);
      return { y: tf.matMul(tf.exp(product), product) };
    };
    expect(peakBytes(traced(body))).toBe(3 * matrix);
  });

  test('takes another shape of the same numbers for the same memory', () => {
    const body: ProgramBody = ({ x, w }) => ({ y: tf.reshape(tf.matMul(x!, w!), [4, 25]) });
    expect(peakBytes(traced(body))).toBe(matrix);
  });

  test('holds what is returned to the end', () => {
    const body: ProgramBody = ({ x, w }) => {
      const first = tf.matMul(x!, w!);
      return { first, second: tf.matMul(first, w!), third: tf.matMul(w!, x!) };
    };
    expect(peakBytes(traced(body))).toBe(3 * matrix);
  });
});

describe('removeUnused', () => {
  test('leaves out what no output needs, and its constants', () => {
    const body: ProgramBody = ({ x, w }) => {
      tf.matMul(
        tf.exp(x!),
        tf.tensor2d(
          Array.from({ length: 100 }, (_, i) => i),
          [10, 10],
        ),
      );
      return { y: tf.matMul(x!, w!) };
    };
    const { graph } = traced(body);
    expect(graph.nodes.map(({ operator }) => operator)).toEqual(['MatMul']);
    expect(graph.initializers).toEqual([]);
  });
});
