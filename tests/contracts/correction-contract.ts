import { describe, expect, test } from '@jest/globals';

import { corrections, type CorrectionTokens } from '../../agent_rl/core/algorithm/correction.ts';
import { expectSpec } from './contract-parts.ts';

export interface CorrectionContract {
  /** The function that carries the mark. */
  plugin: unknown;
  /** As a run would call it: the function with its settings. */
  factorsOf: (tokens: CorrectionTokens) => ArrayLike<number>;
}

const tokens = (behaviour: number[], proximal: number[]): CorrectionTokens => ({
  behaviour: Float32Array.from(behaviour),
  proximal: Float32Array.from(proximal),
});

const episodes: readonly CorrectionTokens[] = [
  tokens([-1, -0.2, -3], [-1.1, -0.2, -2.5]),
  tokens([-0.5], [-0.5]),
  tokens([-20, -0.1], [-0.1, -20]),
  tokens(Array(500).fill(-1) as number[], Array(500).fill(-0.5) as number[]),
  tokens([], []),
];

/** What every correction promises. Call it from the test of each correction plugin. */
export function describeCorrectionContract(name: string, contract: CorrectionContract): void {
  const { plugin, factorsOf } = contract;
  describe(`${name} keeps the Correction contract`, () => {
    test('is marked with a spec whose settings do not take the name type', () => {
      expectSpec(corrections.specOf(plugin));
    });

    test('is a finite factor of at least 0 for each token, however far apart the two are', () => {
      for (const episode of episodes) {
        const factors = Array.from(factorsOf(episode));
        expect(factors).toHaveLength(episode.behaviour.length);
        expect(factors.every((factor) => Number.isFinite(factor) && factor >= 0)).toBe(true);
      }
    });

    test('is 1 where nothing needs a correction', () => {
      const same = tokens([-1, -0.3, -7], [-1, -0.3, -7]);
      for (const factor of Array.from(factorsOf(same))) expect(factor).toBeCloseTo(1, 6);
    });

    test('depends only on the tokens and leaves them unchanged', () => {
      for (const episode of episodes) {
        const before = structuredClone(episode);
        expect(Array.from(factorsOf(episode))).toEqual(Array.from(factorsOf(episode)));
        expect(episode).toEqual(before);
      }
    });
  });
}
