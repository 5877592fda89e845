import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { float, type Engine, type SizedBody, type Sizes } from '#agent_rl/engine/engine.ts';
import { repeated, tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { bothEngines } from '#tests/support/both-engines.ts';
import { numbersOf } from '#tests/support/numbers-of.ts';

/** Each round adds what the two before it left, times a number from outside, to the round's own number. */
const sumsAt = ({ rounds }: Sizes<'rounds'>): SizedBody => ({
  specs: [float('start', [2]), float('factor', [1]), float('added', [rounds, 2])],
  body: ({ start, factor, added }) => {
    const times = tf.add(factor!, 9);
    const { carried, given } = repeated(
      rounds,
      [start!, tf.broadcastTo(tf.scalar(1), [2])],
      ([last, before], number) => {
        const own = tf.squeeze(tf.gather(added!, number), [0]);
        const sum = tf.add(tf.mul(tf.add(last!, before!), times), own);
        return { carried: [sum, last!], given: [number, sum] };
      },
    );
    return { times, last: carried[0]!, before: carried[1]!, numbers: given[0]!, sums: given[1]! };
  },
});
const inputsAt = (rounds: number) => ({
  start: Float32Array.of(1, 2),
  factor: Float32Array.of(1),
  added: Float32Array.from({ length: 2 * rounds }, (_, i) => i),
});

describe.each(bothEngines)('A loop of equal rounds, $kind', ({ open: openEngine }) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine();
  });
  afterAll(() => engine.close());

  const run = async (
    inputs: Parameters<Awaited<ReturnType<Engine['compile']>>['run']>[0],
    { specs, body }: SizedBody,
  ) => {
    const program = await engine.compile(specs, body);
    const found = numbersOf(await program.run(inputs));
    await program.dispose();
    return found;
  };

  test('passes each round the result of the last and returns the outputs of every round', async () => {
    // (1, 2) and (1, 1): 10 (2, 3) + (0, 1) = (20, 31), 10 (21, 33) + (2, 3) = (212, 333).
    expect(await run(inputsAt(2), sumsAt({ rounds: 2 }))).toEqual({
      times: [10],
      last: [212, 333],
      before: [20, 31],
      numbers: [0, 1],
      sums: [20, 31, 212, 333],
    });
  });

  test('has as many rounds as its open size says', async () => {
    const open = await engine.compileSized(sumsAt, ['rounds']);
    for (const rounds of [1, 3, 2]) {
      const found = numbersOf(await open.run(inputsAt(rounds), { sizes: { rounds } }));
      expect(found).toEqual(await run(inputsAt(rounds), sumsAt({ rounds })));
    }
    await open.dispose();
  });

  test('may pass on or return its inputs unchanged', async () => {
    const found = await run(
      { x: Float32Array.of(3) },
      {
        specs: [float('x', [1])],
        body: ({ x }) => {
          const { carried, given } = repeated(3, [x!], ([same]) => ({
            carried: [same!],
            given: [x!],
          }));
          return { same: carried[0]!, given: given[0]! };
        },
      },
    );
    expect(found).toEqual({ same: [3], given: [3, 3, 3] });
  });

  test('shares constants with the operations after it', async () => {
    const found = await run(
      { x: Float32Array.of(1, 2) },
      {
        specs: [float('x', [2])],
        body: ({ x }) => {
          // Made whole inside and outside: a name of inside is not known outside.
          const twos = tf.broadcastTo(tf.scalar(2), [3, 2]);
          const rows = (some: Tensor): Tensor =>
            tf.sum(tf.concat([twos, tf.expandDims(some, 0)]), 0);
          const { carried } = repeated(2, [x!], ([some]) => ({
            carried: [rows(some!)],
            given: [],
          }));
          return { sums: rows(carried[0]!) };
        },
      },
    );
    // Three times six more.
    expect(found).toEqual({ sums: [19, 20] });
  });
});
