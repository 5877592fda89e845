import { AgentRlError } from '../../core/errors.ts';
import { tfjs as tf, type Tensor } from '../tfjs.ts';
import type { Graph } from '../trace/graph.ts';
import { reshaped } from '../trace/kernels/shape.ts';
import { computed, type Value } from '../trace/value.ts';
import { computedAfter, fused, withCustomGradient } from './custom-operation.ts';

/** A matrix [N, K] in four bits a value. */
interface QuantizedMatrix {
  packed: Tensor;
  scales: Tensor;
  /** Weights of one row that share a scale: a power of two, 16 at least, that divides K. */
  blockSize: number;
}

/** Four bits hold 0 to 15, of which this one means zero. */
const zeroPoint = 8;

/**
 * `x W^T` with W in four bits: two values a byte, the low half first, each standing for `(q - 8) * scale` with the
 * scale of its block. The layout is that of ONNX Runtime's MatMulNBits; sums are of float32. W has no gradient.
 *
 * @param x - [M, K]
 * @param packed - [N, K / blockSize, blockSize / 2] uint8
 * @param scales - [N, K / blockSize]
 * @returns [M, N]
 * @throws AgentRlError `SHAPE_MISMATCH`
 */
export function quantizedMatMul(
  x: Tensor,
  packed: Tensor,
  scales: Tensor,
  { blockSize }: Pick<QuantizedMatrix, 'blockSize'>,
): Tensor {
  const matrix = { packed, scales, blockSize };
  assertFits(x, matrix);
  return withCustomGradient([x], {
    forward: () => ({ value: product(x, matrix), saved: [packed, scales] }),
    backward: (dy, saved) => {
      // Widened when its turn comes: all layers' floats at once would be the model this spares.
      const late = { packed: saved[0]!, scales: computedAfter(saved[1]!, dy), blockSize };
      return [tf.matMul(dy, dequantized(late))];
    },
  });
}

function assertFits(x: Tensor, { packed, scales, blockSize }: QuantizedMatrix): void {
  const [rows, blocks = 0] = packed.shape;
  const expected = [
    [x.shape, [x.shape[0], blocks * blockSize]],
    [packed.shape, [rows, blocks, blockSize / 2]],
    [scales.shape, [rows, blocks]],
  ] as const;
  const fits = expected.every(([got, wanted]) => got.join() === wanted.join());
  if (fits && blockSize >= 16 && Number.isInteger(Math.log2(blockSize))) return;
  throw new AgentRlError(
    'SHAPE_MISMATCH',
    `quantizedMatMul needs x [M, K], packed [N, K / block, block / 2] and scales [N, K / block] with a block that is ` +
      `a power of two from 16, got [${x.shape.join(', ')}], [${packed.shape.join(', ')}], [${scales.shape.join(', ')}] and ${blockSize}.`,
  );
}

const product = (x: Tensor, matrix: QuantizedMatrix): Tensor =>
  fused([x, matrix.packed, matrix.scales], {
    composed: () => [tf.matMul(x, unpacked(matrix), false, true)],
    traced: (graph, [rows, packed, scales]) => [nBitsProduct(graph, rows!, packed!, scales!)],
  })[0]!;

/** W itself, [N, K]. */
const dequantized = (matrix: QuantizedMatrix): Tensor =>
  fused([matrix.packed, matrix.scales], {
    composed: () => [unpacked(matrix)],
    traced: (graph, [packed, scales]) => [dequantizedBlocks(graph, packed!, scales!)],
  })[0]!;

/** W by tfjs's own operations, to which the bytes are int32. */
function unpacked({ packed, scales, blockSize }: QuantizedMatrix): Tensor {
  const [rows, blocks = 0] = scales.shape;
  const high = tf.floorDiv(packed, tf.scalar(16, 'int32'));
  const low = tf.sub(packed, tf.mul(high, tf.scalar(16, 'int32')));
  const values = tf.reshape(tf.stack([low, high], -1), [rows, blocks, blockSize]);
  const centred = tf.sub(tf.cast(values, 'float32'), zeroPoint);
  const scaled = tf.mul(centred, tf.reshape(scales, [rows, blocks, 1]));
  return tf.reshape(scaled, [rows, blocks * blockSize]);
}

/** Zero points are left out: the operator's own is 8. */
function nBitsProduct(graph: Graph, x: Value, packed: Value, scales: Value): Value {
  const [rows, blocks, halfBlock] = packed.shape as [number, number, number];
  const inputs = [x, packed, scales].map((value) => graph.nameOf(value));
  const attributes = { K: blocks * halfBlock * 2, N: rows, bits: 4, block_size: halfBlock * 2 };
  const result = computed(graph.emit('MatMulNBits', inputs, attributes), [x.shape[0]!, rows]);
  graph.noteShape(result);
  return result;
}

/**
 * W from a product: each block is a row of a narrow matrix, whose product with the identity is its transpose, exactly.
 * Half the time of GatherBlockQuantized over all rows, and bytes stay inside the one operator that devices have for them.
 */
function dequantizedBlocks(graph: Graph, packed: Value, scales: Value): Value {
  const [rows, blocks, halfBlock] = packed.shape as [number, number, number];
  const blockSize = halfBlock * 2;
  const narrow = [
    reshaped(graph, packed, [rows * blocks, 1, halfBlock]),
    reshaped(graph, scales, [rows * blocks, 1]),
  ] as const;
  const columns = nBitsProduct(graph, identityMatrix(blockSize), ...narrow); // [block, N * K / block]
  const name = graph.emit('Transpose', [graph.nameOf(columns)], { perm: [1, 0] });
  return reshaped(graph, computed(name, [rows * blocks, blockSize]), [rows, blocks * blockSize]);
}

const identities = new Map<number, Value>();

/** One value for each size, so that a graph holds it once. */
function identityMatrix(size: number): Value {
  const known = identities.get(size);
  if (known !== undefined) return known;
  const data = new Float32Array(size * size);
  for (let i = 0; i < size; i++) data[i * size + i] = 1;
  const made: Value = { shape: [size, size], dtype: 'float32', source: { kind: 'constant', data } };
  identities.set(size, made);
  return made;
}
