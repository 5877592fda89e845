import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { computedAfter, withCustomGradient } from './custom-operation.ts';

/**
 * A block of which only the inputs are kept: its gradient computes it a second time, once the gradient of its value
 * is known (Chen et al. 2016, https://arxiv.org/abs/1604.06174). Less memory, one more forward pass.
 *
 * @param inputs What the gradient is wanted of; the first has the rank of the block's value.
 * @param block Pure; it may use other tensors, which are then constants to it.
 */
export function recomputed(
  inputs: readonly Tensor[],
  block: (inputs: readonly Tensor[]) => Tensor,
): Tensor {
  return withCustomGradient(inputs, {
    forward: () => ({ value: block(inputs), saved: inputs }),
    backward: (dy, [first, ...rest]) => {
      const gradient = tf.grads((...again: Tensor[]) => block(again));
      const [dFirst, ...others] = keepingTape(() =>
        gradient([computedAfter(first!, dy), ...rest], dy),
      );
      // The other gradients first: they read what the block holds.
      return [others.length === 0 ? dFirst! : computedAfter(dFirst!, ...others), ...others];
    },
  });
}

/** tfjs forgets the tape of a gradient under way when another one ends. */
function keepingTape<Result>(body: () => Result): Result {
  const { state } = tf.engine();
  const tape = state.activeTape;
  try {
    return body();
  } finally {
    state.activeTape = tape;
  }
}
