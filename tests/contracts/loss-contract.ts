import { describe, expect, test } from '@jest/globals';

import { type LossFunction, losses } from '../../agent_rl/core/algorithm/loss.ts';
import type { Tensor } from '../../agent_rl/engine/ops.ts';
import { expectSpec } from './contract-parts.ts';

export interface LossContract {
  /** The function that carries the mark. */
  plugin: unknown;
  /** Its settings, defaults filled in. */
  settings: Readonly<Record<string, unknown>>;
}

/** What an episode sampled, a number for each of its tokens. */
export interface LossEpisode {
  logProbs: readonly number[];
  oldLogProbs: readonly number[];
  advantage: number;
}

/** The sum of the losses of all tokens, each of weight 1, and its gradient with respect to their log-probabilities. */
export interface LossAndGradient {
  loss: number;
  /** By episode and token. */
  gradient: number[][];
  /** Sums over tokens of what the loss measures. */
  sums: Readonly<Record<string, number>>;
}

/** A loss and its gradient on a few episodes, with the slow obvious backend. `padding` tokens of nothing follow. */
export async function lossAndGradient(
  { plugin, settings }: LossContract,
  episodes: readonly LossEpisode[],
  padding = 0,
): Promise<LossAndGradient> {
  // Late: suites of other kinds load no engine.
  const { policyLoss } = await import('../../agent_rl/algorithms/policy-loss.ts');
  const { tf } = await import('../../agent_rl/engine/ops.ts');
  const spec = losses.specOf(plugin);
  const tokens = episodes.flatMap(({ logProbs, oldLogProbs, advantage }, row) =>
    logProbs.map((logProb, place) => ({ row, logProb, old: oldLogProbs[place] ?? 0, advantage })),
  );
  const padded = (values: readonly number[]) => [...values, ...Array<number>(padding).fill(0)];
  const column = (values: readonly number[]) => tf.tensor1d(padded(values), 'float32');
  const first = (tensor: Tensor) => tensor.dataSync()[0] ?? Number.NaN;
  return tf.tidy(() => {
    const membersOf = (_: unknown, row: number) => tokens.map((token) => Number(token.row === row));
    const membership = tf.tensor2d(episodes.map(membersOf).map(padded));
    const kl = { kind: 'none', weight: 0 } as const;
    const of = (logProbs: Tensor) =>
      policyLoss(
        {
          logProbs,
          oldLogProbs: column(tokens.map(({ old }) => old)),
          advantages: column(tokens.map(({ advantage }) => advantage)),
          weights: column(tokens.map(() => 1)),
          ...(spec?.perSequence === true && { membership }),
        },
        { name: 'policy', type: spec?.name ?? '', settings, kl, temperature: 1 },
        plugin as LossFunction,
      );
    const at = column(tokens.map(({ logProb }) => logProb));
    const { loss, sums } = of(at);
    const slopes = tf
      .grad((x: Tensor) => of(x).loss.asScalar())(at)
      .dataSync()
      .values();
    return {
      loss: first(loss),
      gradient: episodes.map(({ logProbs }) =>
        logProbs.map(() => slopes.next().value ?? Number.NaN),
      ),
      sums: Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, first(sum)])),
    };
  });
}

const same = [-1.1, -0.4, -2.5];
const onPolicy = (advantage: number) => ({ logProbs: same, oldLogProbs: same, advantage });

const moved: readonly LossEpisode[] = [
  { logProbs: [-1.3, -0.2, -2], oldLogProbs: [-1, -0.5, -2.1], advantage: 1.5 },
  { logProbs: [-0.7, -3], oldLogProbs: [-0.9, -1.2], advantage: -0.8 },
  { logProbs: [-0.01], oldLogProbs: [-4], advantage: 0.6 },
  { logProbs: [-6, -0.3], oldLogProbs: [-0.5, -0.3], advantage: -2 },
];

/** What every loss promises. Call it from the test of each loss plugin. */
export function describeLossContract(name: string, contract: LossContract): void {
  const { plugin } = contract;
  const at = (episodes: readonly LossEpisode[], padding?: number) =>
    lossAndGradient(contract, episodes, padding);

  describe(`${name} keeps the Loss contract`, () => {
    test('is marked with a spec whose settings do not take the name type', () => {
      expectSpec(losses.specOf(plugin));
    });

    test('is exported by the module that its spec names, if it names one', async () => {
      const spec = losses.specOf(plugin);
      if (spec?.module === undefined) return;
      const exported = Object.values((await import(spec.module)) as Record<string, unknown>);
      expect(exported.map((value) => losses.specOf(value)?.name)).toContain(spec.name);
    });

    test('raises the log-probabilities of a better episode and lowers the ones of a worse episode', async () => {
      const better = (await at([onPolicy(1)])).gradient.flat();
      const worse = (await at([onPolicy(-1)])).gradient.flat();
      expect(better.every((slope) => slope <= 0) && better.some((slope) => slope < 0)).toBe(true);
      expect(worse.every((slope) => slope >= 0) && worse.some((slope) => slope > 0)).toBe(true);
    });

    test('learns nothing from an episode of advantage 0, which is not sent to the learner', async () => {
      const flat = moved.map((episode) => ({ ...episode, advantage: 0 }));
      const slopes = (await at(flat)).gradient.flat().map(Math.abs);
      expect(Math.max(...slopes)).toBeLessThan(1e-12);
    });

    test('grows in proportion to the advantages, which a correction multiplies', async () => {
      const twice = moved.map((episode) => ({ ...episode, advantage: 2 * episode.advantage }));
      const [one, two] = [await at(moved), await at(twice)];
      expect(two.loss).toBeCloseTo(2 * one.loss, 4);
      for (const [row, slopes] of two.gradient.entries())
        for (const [place, slope] of slopes.entries())
          expect(slope).toBeCloseTo(2 * (one.gradient[row]?.[place] ?? Number.NaN), 4);
    });

    test('is the same however the episodes are split, ordered and padded', async () => {
      const whole = await at(moved);
      const alone = await Promise.all(moved.map((episode) => at([episode], 3)));
      expect(alone.reduce((sum, { loss }) => sum + loss, 0)).toBeCloseTo(whole.loss, 4);
      const backwards = (await at(moved.toReversed())).gradient.toReversed();
      for (const [row, slopes] of whole.gradient.entries())
        for (const [place, slope] of slopes.entries()) {
          expect(alone[row]?.gradient[0]?.[place]).toBeCloseTo(slope, 4);
          expect(backwards[row]?.[place]).toBeCloseTo(slope, 4);
        }
    });

    test('is finite however far the policy has moved, in value and gradient', async () => {
      const far = [-800, 800].map((by) => ({
        logProbs: [-1, Math.min(0, -1 + by)],
        oldLogProbs: [-1, Math.min(0, -1 - by)],
        advantage: 1,
      }));
      const { loss, gradient, sums } = await at(far);
      expect([loss, ...gradient.flat(), ...Object.values(sums)].every(Number.isFinite)).toBe(true);
    });
  });
}
