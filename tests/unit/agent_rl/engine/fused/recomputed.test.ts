import { describe, expect, test } from '@jest/globals';
import type { ProgramBody } from '#agent_rl/engine/engine.ts';
import { recomputed, swiglu, tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { plannedBytes } from '#agent_rl/engine/onnx/peak-bytes.ts';
import { expectSameAsOracle, specsOf, type RandomInputs } from '#tests/support/engine-oracle.ts';
import {
  expectSameGradients,
  valueAndGradients,
  type Operation,
} from '#tests/support/gradient-checks.ts';

const inputs: RandomInputs = { x: { shape: [3, 4] }, w: { shape: [4, 4] }, v: { shape: [4, 4] } };
const differentiated = ['x', 'w', 'v'];

const block = ([x, w]: readonly Tensor[]): Tensor => {
  const inner = tf.matMul(x!, w!);
  return tf.add(x!, swiglu(inner, tf.tanh(inner)));
};
/** Two blocks: the second one's gradient is taken while the tape of the first is open. */
const kept: Operation = ({ x, w, v }) => block([block([x!, w!]), v!]);
const again: Operation = ({ x, w, v }) => recomputed([recomputed([x!, w!], block), v!], block);

describe('recomputed', () => {
  test('changes neither the value nor a gradient', () =>
    expectSameGradients(inputs, differentiated, [again, kept]));

  test('compiles to the same value and gradients', () =>
    expectSameAsOracle(inputs, valueAndGradients(again, differentiated)));

  test('holds one block of many instead of all', () => {
    const specs = specsOf({ x: { shape: [1000, 8] }, w: { shape: [8, 8] } });
    const peakOf = (step: (x: Tensor, w: Tensor) => Tensor): number => {
      const body: ProgramBody = ({ x, w }) => {
        const loss = (matrix: Tensor) => {
          let hidden = x!;
          for (let layer = 0; layer < 12; layer++) hidden = step(hidden, matrix);
          return tf.sum(hidden);
        };
        return { gradient: tf.grad(loss)(w!) };
      };
      return plannedBytes({ specs, body });
    };
    const all = peakOf((x, w) => block([x, w]));
    const one = peakOf((x, w) => recomputed([x, w], block));
    // Of each layer its input is kept, 32,000 bytes; of all but one not the four arrays in between.
    expect(all).toBeGreaterThanOrEqual(12 * 5 * 32_000);
    expect(one).toBeLessThan(12 * 32_000 + 12 * 32_000);
  });
});
