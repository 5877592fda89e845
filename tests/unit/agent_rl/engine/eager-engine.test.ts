import { describe, expect, test } from '@jest/globals';
import { EagerEngine } from '#agent_rl/engine/eager-engine.ts';
import { tf } from '#agent_rl/engine/ops.ts';

const vector = { name: 'x', shape: [2], dtype: 'float32' } as const;

describe('EagerEngine', () => {
  test('neither keeps nor changes the arrays it is given', async () => {
    const engine = await EagerEngine.open('cpu');
    const program = await engine.compile([vector], ({ x }) => ({ same: x! }));
    const x = Float32Array.of(1, 2);
    const { same } = await program.run({ x });
    same![0] = 9;
    expect(x).toEqual(Float32Array.of(1, 2));
  });

  test('leaves no tensor behind', async () => {
    const engine = await EagerEngine.open('cpu');
    const program = await engine.compile([vector], ({ x }) => ({ y: tf.exp(tf.neg(x!)) }));
    const before = tf.memory().numTensors;
    await program.run({ x: Float32Array.of(1, 2) });
    expect(tf.memory().numTensors).toBe(before);
  });

  test('refuses what the compiled engines refuse', async () => {
    const engine = await EagerEngine.open('cpu');
    await expect(
      engine.compile([vector], ({ x }) => ({ y: tf.greater(x!, 0) })),
    ).rejects.toMatchObject({ code: 'NOT_TRACEABLE' });
    const program = await engine.compile([vector], ({ x }) => ({ y: x! }));
    await expect(program.run({ x: new Float32Array(3) })).rejects.toMatchObject({
      code: 'SHAPE_MISMATCH',
    });
  });
});
