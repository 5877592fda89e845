import { describe, expect, test } from '@jest/globals';
import { float, type ProgramBody } from '#agent_rl/engine/engine.ts';
import { peakBytes } from '#agent_rl/engine/onnx/peak-bytes.ts';
import { removeUnused } from '#agent_rl/engine/onnx/rewrite-graph.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { traceProgram } from '#agent_rl/engine/trace/trace-program.ts';

const specs = [float('x', [10, 10]), float('w', [10, 10]), float('row', [1, 100])];

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

  test('lets an element-wise operation overwrite a value that is no longer needed', () => {
    expect(peakBytes(traced(({ x, w }) => ({ y: tf.exp(tf.matMul(x!, w!)) })))).toBe(matrix);
  });

  test('lets nothing overwrite a value that is read again', () => {
    const body: ProgramBody = ({ x, w }) => {
      const product = tf.matMul(x!, w!);
      return { y: tf.matMul(tf.exp(product), product) };
    };
    expect(peakBytes(traced(body))).toBe(3 * matrix);
  });

  test('counts no memory for another shape of the same numbers', () => {
    const body: ProgramBody = ({ x, w }) => ({ y: tf.reshape(tf.matMul(x!, w!), [4, 25]) });
    expect(peakBytes(traced(body))).toBe(matrix);
  });

  test('counts returned values to the end', () => {
    const body: ProgramBody = ({ x, w }) => {
      const first = tf.matMul(x!, w!);
      return { first, second: tf.matMul(first, w!), third: tf.matMul(w!, x!) };
    };
    expect(peakBytes(traced(body))).toBe(3 * matrix);
  });

  test('counts a reused buffer once', () => {
    const column = (y: Tensor) => tf.sum(y, 1, true);
    const small: ProgramBody = ({ x, w, row }) => ({
      y: column(tf.matMul(column(tf.matMul(x!, w!)), row!)),
    });
    // Ten matrices, and the column that they are computed from.
    expect(peakBytes(traced(small))).toBe(10 * matrix + matrix / 10);
    const again: ProgramBody = (inputs) => {
      const { y } = small(inputs);
      return { y: tf.matMul(y!, inputs['row']!) };
    };
    // The ten come again and take over what the first ten were; nothing is added.
    expect(peakBytes(traced(again))).toBe(10 * matrix + matrix / 10);
    const later: ProgramBody = (inputs) => {
      const { y } = small(inputs);
      return { y: tf.add(tf.matMul(y!, tf.slice(inputs['w']!, [0, 0], [1, 10])), inputs['x']!) };
    };
    // The first product waits beside the ten for the last, whose other factor is there already.
    expect(peakBytes(traced(later))).toBe(11 * matrix + 2 * (matrix / 10));
  });
});

describe('removeUnused', () => {
  test('leaves out what no output needs, and its constants', () => {
    const body: ProgramBody = ({ x, w }) => {
      tf.matMul(tf.exp(x!), tf.reshape(tf.tensor1d([...Array(100).keys()]), [10, 10]));
      return { y: tf.matMul(x!, w!) };
    };
    const { graph } = traced(body);
    expect(graph.nodes.map(({ operator }) => operator)).toEqual(['MatMul']);
    expect(graph.initializers).toEqual([]);
  });
});
