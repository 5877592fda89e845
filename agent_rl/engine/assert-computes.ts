import { AgentRlError } from '../core/errors.ts';
import type { Engine } from './engine.ts';
import { rmsNorm, tf } from './ops.ts';

const input = Float32Array.of(1, 7);
/** Of 1 / rms with rms = 5: 1 / 5 - 1 / (2 * 125), and -7 / (2 * 125). */
const expected = [0.196, -0.028];
const tolerance = 1e-3;

/**
 * Runs a gradient on the device whose value is known: a provider may be listed and have no device, and a device
 * may compute values rightly and gradients wrongly.
 *
 * @throws AgentRlError `ENGINE_FAILED` when it does not run or the numbers are wrong.
 */
export async function assertComputes(engine: Engine): Promise<void> {
  const spec = { name: 'x', shape: [1, 2], dtype: 'float32' } as const;
  const program = await engine.compile([spec], ({ x }) => {
    const first = tf.tensor1d([1, 0]);
    const gradient = tf.grad((v) => tf.sum(tf.mul(rmsNorm(v, tf.ones([2]), 0), first)));
    return { gradient: gradient(x!) };
  });
  const { gradient } = await program.run({ x: input });
  await program.dispose();
  const wrong = expected.some((value, i) => !(Math.abs(gradient![i]! - value) < tolerance));
  if (!wrong) return;
  throw new AgentRlError(
    'ENGINE_FAILED',
    `It computes wrongly: the gradient of a root-mean-square norm is [${expected.join(', ')}], got [${gradient!.join(', ')}].`,
  );
}
