import { afterAll, describe, expect, test } from '@jest/globals';
import { OnnxEngine } from '../../../../agent_rl/engine/onnx-engine.ts';
import { tf } from '../../../../agent_rl/engine/ops.ts';

const engine = new OnnxEngine({ device: 'cpu', threads: 1 });
afterAll(() => engine.close());

const vector = { name: 'x', shape: [3], dtype: 'float32' } as const;

describe('OnnxEngine', () => {
  test('runs the gradient of a traced function', async () => {
    const program = await engine.compile([vector], ({ x }) => ({
      gradient: tf.grad((v) => tf.sum(tf.square(v)))(x!),
    }));
    expect(program.outputs).toEqual([{ name: 'gradient', shape: [3], dtype: 'float32' }]);
    const { gradient } = await program.run({ x: Float32Array.of(1, -2, 3) });
    expect([...gradient!]).toEqual([2, -4, 6]);
  });
});
