import { describe, expect, test } from '@jest/globals';

import { builtinCorrections } from '#agent_rl/algorithms/corrections/index.ts';
import {
  type CorrectionFunction,
  corrections,
  type CorrectionTokens,
} from '#agent_rl/core/algorithm/correction.ts';
import { describeCorrectionContract } from '#tests/contracts/correction-contract.ts';

const named = (name: string) =>
  builtinCorrections.find((one) => corrections.specOf(one)?.name === name) as CorrectionFunction;

/** Tokens of these ratios of proximal to behaviour. */
const tokens = (...ratios: readonly number[]) => ({
  behaviour: Float32Array.from(ratios, () => -2),
  proximal: Float32Array.from(ratios, (ratio) => Math.log(ratio) - 2),
});
const factors = (name: string, settings: object, ...ratios: readonly number[]) =>
  Array.from(named(name)(tokens(...ratios), settings), (factor) => Number(factor.toFixed(5)));

describe('A built-in correction', () => {
  test.each([
    // Ratios 0.25, 1, 1.5 and 8.
    ['none', {}, [1, 1, 1, 1]],
    ['tis', { cap: 2 }, [0.25, 1, 1.5, 2]],
    ['masked', { low: 0.5, high: 2 }, [0, 1, 1.5, 0]],
    // Their product is 3.
    ['sequence', { cap: 2 }, [2, 2, 2, 2]],
    ['sequence', { cap: 10 }, [3, 3, 3, 3]],
  ])('%s with %j gives the factors', (name, settings, expected) => {
    expect(factors(name, settings, 0.25, 1, 1.5, 8)).toEqual(expected);
  });

  test('masked keeps ratios exactly on its bounds', () => {
    expect(factors('masked', { low: 1, high: 1 }, 1)).toEqual([1]);
  });
});

const masked = { low: 0.5, high: 2 };
const settings: Record<string, object> = { tis: { cap: 2 }, masked, sequence: { cap: 2 } };
for (const plugin of builtinCorrections) {
  const { name } = corrections.specOf(plugin)!;
  const factorsOf = (given: CorrectionTokens) => named(name)(given, settings[name] ?? {});
  describeCorrectionContract(name, { plugin, factorsOf });
}
