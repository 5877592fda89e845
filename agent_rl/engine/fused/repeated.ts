import { tfjs as tf, type Tensor } from '../tfjs.ts';
import { traceBackend } from '../trace/install.ts';
import { computed, type Value } from '../trace/value.ts';
import { fused } from './custom-operation.ts';

/** The values that a round passes to the next, and the values that it returns. */
export interface Round {
  /** As many as the first round began with, of the same shapes or with shorter axes. */
  carried: readonly Tensor[];
  given: readonly Tensor[];
}

export interface Repeated {
  /** What the last round left. */
  carried: readonly Tensor[];
  /** What all rounds gave, [count, ...] each. */
  given: readonly Tensor[];
}

/**
 * The same rounds one after another. A recorded program holds one of them, however many there are. No gradient is derived through it.
 *
 * @param count rounds, one at least
 * @param first what the first round begins with
 * @param round what a round makes of what the one before it left; its number, from 0 on, is [1] int32. It may use other tensors.
 */
export function repeated(
  count: number,
  first: readonly Tensor[],
  round: (carried: readonly Tensor[], number: Tensor) => Round,
): Repeated {
  const results = fused(first, {
    composed: () => everyRound(count, first, round),
    traced: (graph, values) => {
      const backend = traceBackend();
      let given: readonly Value[] = [];
      const names = graph.loop(count, values, (carried, number) => {
        const tensors = carried.map((value) => backend.tensorOf(value));
        const result = round(tensors, backend.tensorOf(number));
        given = result.given.map((tensor) => backend.lookUp(tensor));
        return { carried: result.carried.map((tensor) => backend.lookUp(tensor)), given };
      });
      const shapes = [
        ...values,
        ...given.map(({ shape, dtype }) => ({ shape: [count, ...shape], dtype })),
      ];
      return shapes.map(({ shape, dtype }, at) => computed(names[at]!, shape, dtype));
    },
  });
  return { carried: results.slice(0, first.length), given: results.slice(first.length) };
}

function everyRound(
  count: number,
  first: readonly Tensor[],
  round: (carried: readonly Tensor[], number: Tensor) => Round,
): Tensor[] {
  let carried = first;
  const given: (readonly Tensor[])[] = [];
  for (let at = 0; at < count; at++) {
    const result = round(carried, tf.tensor1d([at], 'int32'));
    carried = result.carried;
    given.push(result.given);
  }
  const stacked = given[0]!.map((_, place) => tf.stack(given.map((some) => some[place]!)));
  return [...carried, ...stacked];
}
