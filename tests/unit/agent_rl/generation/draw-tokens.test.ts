import { expect, test } from '@jest/globals';

import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { float } from '#agent_rl/engine/engine.ts';
import { tf } from '#agent_rl/engine/ops.ts';
import { cumulateByBlocks } from '#agent_rl/generation/draw-tokens.ts';
import * as fc from '#tests/support/properties.ts';
import { numbersOf } from '#tests/support/numbers-of.ts';

test('block-wise sums equal the cumulative sums of each row, whatever their length', async () => {
  const engine = new OnnxEngine({ device: 'cpu', threads: 1 });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 40 }),
      async (rows, count) => {
        const program = await engine.compile([float('x', [rows, count])], ({ x }) => ({
          byBlocks: cumulateByBlocks(x!),
          plain: tf.cumsum(x!, -1),
        }));
        // Whole numbers, so that every order of additions has the same sums.
        const x = Float32Array.from({ length: rows * count }, (_, at) => (at * 7) % 11);
        const { byBlocks, plain } = numbersOf(await program.run({ x }));
        await program.dispose();
        expect(byBlocks).toEqual(plain);
      },
    ),
    { numRuns: 40 },
  );
  await engine.close();
});
