import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import {
  float,
  type Engine,
  type Program,
  type SizedBody,
  type Sizes,
} from '#agent_rl/engine/engine.ts';
import { repeated, tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { bothEngines } from '#tests/support/both-engines.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { numbersOf } from '#tests/support/numbers-of.ts';
import { errorOf } from '#tests/support/thrown.ts';

/** Sums of the rows of a product, and the transposed sum of both: shapes with one size, with the other, with both. */
const bodyAt = ({ rows, columns }: Sizes<'rows' | 'columns'>): SizedBody => ({
  specs: [float('x', [rows, 2]), float('y', [columns, 2])],
  body: ({ x, y }) => ({
    sums: tf.sum(tf.matMul(x!, y!, false, true), 1),
    shifted: tf.reshape(tf.concat([x!, tf.ones([rows, 2])], 1), [2 * rows, 2]),
    both: tf.concat([x!, y!], 0),
  }),
});
const inputsAt = (rows: number, columns: number) => ({
  x: Float32Array.from({ length: 2 * rows }, (_, i) => i),
  y: Float32Array.from({ length: 2 * columns }, (_, i) => i + 1),
});

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
const roundsAt = (rounds: number) => ({
  start: Float32Array.of(1, 2),
  factor: Float32Array.of(1),
  added: Float32Array.from({ length: 2 * rounds }, (_, i) => i),
});

describe.each(bothEngines)('A program, $kind', ({ open: openEngine }) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine();
  });
  afterAll(() => engine.close());

  describe('with open sizes', () => {
    test('equals, at each size, a program of that size', async () => {
      const open = await engine.compileSized(bodyAt, ['rows', 'columns']);
      for (const [at, rows] of [1, 3, 2, 1].entries()) {
        const columns = [1, 2, 5, 1][at]!;
        const sizes = { rows, columns };
        const { specs, body } = bodyAt(sizes);
        const program = await engine.compile(specs, body);
        const given = inputsAt(rows, columns);
        const expected = numbersOf(await program.run(given));
        expect(numbersOf(await open.run(given, { sizes }))).toEqual(expected);
      }
      await open.dispose();
    });

    test('may have shapes with the product of two sizes and counters up to a size', async () => {
      const grid = ({ rows, columns }: Sizes<'rows' | 'columns'>): SizedBody => ({
        specs: [float('x', [rows, columns, 2]), float('weight', [2, 2])],
        body: ({ x, weight }) => {
          const flat = tf.reshape(x!, [-1, 2]);
          const counted = tf.reshape(tf.range(1, columns + 1, 1, 'float32'), [1, columns, 1]);
          const numbered = tf.reshape(tf.mul(x!, counted), [rows * columns, 2]);
          return { y: tf.add(tf.matMul(flat, weight!), numbered) };
        },
      });
      for (const manyRows of [false, true]) {
        const open = await engine.compileSized(grid, ['rows', 'columns'], { manyRows });
        const weight = Float32Array.of(0, 1, 1, 0);
        const run = (x: number[], rows: number, columns: number) =>
          open.run({ x: Float32Array.from(x), weight }, { sizes: { rows, columns } });
        // Each pair swapped, and the pair times the number of its column.
        const two = await run([1, 2, 3, 4, 5, 6, 7, 8], 2, 2);
        expect(numbersOf(two)).toEqual({ y: [3, 3, 10, 11, 11, 11, 22, 23] });
        const one = await run([1, 2, 3, 4, 5, 6], 1, 3);
        expect(numbersOf(one)).toEqual({ y: [3, 3, 10, 11, 21, 23] });
        await open.dispose();
      }
    });

    test('uploads an unchanged input only once, small or large', async () => {
      const weighted = ({ rows }: Sizes<'rows'>): SizedBody => ({
        specs: [float('x', [rows, 512]), float('weight', [512, 2]), float('bias', [2])],
        body: ({ x, weight, bias }) => ({ y: tf.add(tf.matMul(x!, weight!), bias!) }),
      });
      const constants = {
        weight: Float32Array.from({ length: 1024 }, (_, i) => i % 2),
        bias: Float32Array.of(10, 20),
      };
      const open = await engine.compileSized(weighted, ['rows'], { constants });
      for (const rows of [1, 3]) {
        const x = new Float32Array(512 * rows).fill(1);
        const { y } = await open.run({ x }, { sizes: { rows } });
        // Columns of zeros and of ones.
        expect([...y!]).toEqual(Array.from({ length: rows }, () => [10, 532]).flat());
      }
      const x = new Float32Array(512);
      const given = open.run({ x, ...constants }, { sizes: { rows: 1 } });
      await expect(given).rejects.toMatchObject({ code: 'SHAPE_MISMATCH' });
      await open.dispose();
      const { specs, body } = weighted({ rows: 1 });
      const one = await engine.compile(specs, body, { constants });
      expect([...(await one.run({ x }))['y']!]).toEqual([10, 20]);
      await one.dispose();
    });

    test('has sums that match hand-worked ones', async () => {
      const open = await engine.compileSized(bodyAt, ['rows', 'columns']);
      const sizes = { rows: 2, columns: 2 };
      // Rows (0, 1) and (2, 3) on columns (1, 2) and (3, 4).
      const found = await open.run(inputsAt(2, 2), { sizes, wanted: ['sums'] });
      expect(numbersOf(found)).toEqual({ sums: [2 + 4, 8 + 18] });
      await open.dispose();
    });

    test('refuses an input of another size than the run has', async () => {
      const open = await engine.compileSized(bodyAt, ['rows', 'columns']);
      await expect(open.run(inputsAt(2, 2), { sizes: { rows: 3, columns: 2 } })).rejects.toThrow(
        'Tensor "x" must be float32 [3, 2] with 6 elements, got 4',
      );
      await open.dispose();
    });

    test('fetches only the requested outputs', async () => {
      const { specs, body } = bodyAt({ rows: 2, columns: 2 });
      const program = await engine.compile(specs, body);
      expect(Object.keys(await program.run(inputsAt(2, 2), ['both']))).toEqual(['both']);
    });
  });

  describe('with a loop of equal rounds', () => {
    const run = async (inputs: Parameters<Program['run']>[0], { specs, body }: SizedBody) => {
      const program = await engine.compile(specs, body);
      const found = numbersOf(await program.run(inputs));
      await program.dispose();
      return found;
    };

    test('passes each round the result of the last and returns the outputs of every round', async () => {
      // (1, 2) and (1, 1): 10 (2, 3) + (0, 1) = (20, 31), 10 (21, 33) + (2, 3) = (212, 333).
      expect(await run(roundsAt(2), sumsAt({ rounds: 2 }))).toEqual({
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
        const found = numbersOf(await open.run(roundsAt(rounds), { sizes: { rounds } }));
        expect(found).toEqual(await run(roundsAt(rounds), sumsAt({ rounds })));
      }
      await open.dispose();
    });

    test('may pass on or return its inputs unchanged', async () => {
      const sized: SizedBody = {
        specs: [float('x', [1])],
        body: ({ x }) => {
          const round = repeated(3, [x!], ([same]) => ({ carried: [same!], given: [x!] }));
          return { same: round.carried[0]!, given: round.given[0]! };
        },
      };
      const found = await run({ x: Float32Array.of(3) }, sized);
      expect(found).toEqual({ same: [3], given: [3, 3, 3] });
    });

    test('shares constants with the operations after it', async () => {
      const sized: SizedBody = {
        specs: [float('x', [2])],
        body: ({ x }) => {
          // Made whole inside and outside: a name of inside is not known outside.
          const twos = tf.broadcastTo(tf.scalar(2), [3, 2]);
          const rows = (some: Tensor) => tf.sum(tf.concat([twos, tf.expandDims(some, 0)]), 0);
          const { carried } = repeated(2, [x!], ([some]) => ({
            carried: [rows(some!)],
            given: [],
          }));
          return { sums: rows(carried[0]!) };
        },
      };
      // Three times six more.
      expect(await run({ x: Float32Array.of(1, 2) }, sized)).toEqual({ sums: [19, 20] });
    });
  });
});

describe('A program for all sizes', () => {
  const engine = cpuEngine();
  const compiled = (body: (x: Tensor, rows: number) => Tensor) =>
    engine.compileSized(
      ({ rows }: Sizes<'rows'>) => ({
        specs: [float('x', [rows])],
        body: ({ x }) => ({ y: body(x!, rows) }),
      }),
      ['rows'],
    );

  test('may not hold constants of a size', async () => {
    const counted = (rows: number): Tensor => tf.tensor(Array.from({ length: rows }, (_, i) => i));
    await expect(compiled((x, rows) => tf.mul(x, counted(rows)))).rejects.toMatchObject(
      errorOf('NOT_TRACEABLE', 'A constant of float32 must be the same at all sizes'),
    );
  });

  test('may not do other operations at other sizes', async () => {
    const body = (x: Tensor, rows: number): Tensor => (rows % 4 === 1 ? tf.exp(x) : tf.neg(x));
    await expect(compiled(body)).rejects.toThrow('Which operations are recorded');
  });

  test('may have at most five open sizes', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
    const some = (sizes: Sizes): SizedBody => ({
      specs: Object.entries(sizes).map(([name, size]) => float(name, [size])),
      body: (inputs) => ({ y: tf.concat(Object.values(inputs)) }),
    });
    const open = await engine.compileSized(some, names.slice(0, 5));
    const sizes = { a: 1, b: 2, c: 1, d: 1, e: 1 };
    const given = (numbers: number[]) => Float32Array.from(numbers);
    const inputs = { a: given([1]), b: given([2, 3]), c: given([4]), d: given([5]), e: given([6]) };
    expect(numbersOf(await open.run(inputs, { sizes }))).toEqual({ y: [1, 2, 3, 4, 5, 6] });
    await open.dispose();
    await expect(engine.compileSized(some, names)).rejects.toThrow('at most 5 open sizes, got 6');
  });

  test('may not have shapes that stop growing', async () => {
    // The largest size that is recorded is 10,218, and 20,034 more in the second attempt.
    const some = (x: Tensor, rows: number): Tensor =>
      tf.slice(x, [0], [Math.min(rows % 20_034, 10_150)]);
    await expect(compiled(some)).rejects.toThrow('A dimension');
  });

  test('may not have shapes with a product of three sizes', async () => {
    const names = ['a', 'b', 'c'] as const;
    const cube = ({ a, b, c }: Sizes<(typeof names)[number]>): SizedBody => ({
      specs: [float('x', [a, b, c])],
      body: ({ x }) => ({ y: tf.reshape(x!, [a * b * c]) }),
    });
    await expect(engine.compileSized(cube, names)).rejects.toThrow('A dimension');
  });

  test('may not have shapes that grow unevenly', async () => {
    const square = (x: Tensor, rows: number): Tensor =>
      tf.reshape(tf.matMul(tf.reshape(x, [rows, 1]), tf.reshape(x, [1, rows])), [rows * rows]);
    await expect(compiled(square)).rejects.toMatchObject({ code: 'NOT_TRACEABLE' });
  });

  test('compiles when a recorded size equals another dimension by chance', async () => {
    // 10,007 is the first size that is tried, and both ones are then one constant.
    const program = await compiled((x) => tf.concat([x, tf.onesLike(x), tf.ones([10_007])]));
    const { y } = await program.run({ x: Float32Array.of(1, 2) }, { sizes: { rows: 2 } });
    expect([...y!.subarray(0, 4)]).toEqual([1, 2, 1, 1]);
    expect(y).toHaveLength(4 + 10_007);
  });
});
