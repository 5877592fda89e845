import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { batchOf, batchSchema, type TrainDatum } from '../../agent_rl/core/services/batch.ts';
import type { Learner, ListingLearner, LossSpec } from '../../agent_rl/core/services/learner.ts';
import { testsWithin } from './contract-parts.ts';

export interface LearnerContract {
  /** Opens it as a run would, each time with the same weights. */
  open: () => Promise<Learner>;
  /** Tokens that exist: ids from 0 to this, exclusive. */
  vocabSize: number;
  /** Largest difference of two log-probabilities that pass for one; for a learner that computes in 16 bits, more. */
  tolerance?: number;
  /** Norm that gradients are clipped to, 1 by default; Infinity for one that does not clip. */
  maxGradNorm?: number;
  /** Of each test; 60 by default. */
  timeoutS?: number;
}

const crossEntropy: LossSpec = { name: 'cross_entropy' };
const adamw = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0 };

/** What every learner promises. Call it from the test of each one. */
export function describeLearnerContract(name: string, contract: LearnerContract): void {
  const { open, vocabSize, tolerance = 1e-3, maxGradNorm = 1, timeoutS = 60 } = contract;
  const optim = { ...adamw, maxGradNorm };
  const datum = (length: number, step: number): TrainDatum => ({
    tokens: Int32Array.from({ length }, (_, place) => (place * step + length) % vocabSize),
    weights: new Float32Array(length).fill(1 / 24, 1),
    advantages: new Float32Array(length).fill(1),
    oldLogProbs: new Float32Array(length),
  });
  const data = [datum(9, 5), datum(17, 3)];
  const tokens = data.map((one) => one.tokens);
  const asPolicy = { temperature: 1, which: 'policy' } as const;
  const closeTo = (actual: readonly Float32Array[], expected: readonly Float32Array[]): void => {
    const gaps = actual.flatMap((row, i) => [...row].map((v, j) => Math.abs(v - expected[i]![j]!)));
    expect(gaps).toHaveLength(expected.reduce((all, row) => all + row.length, 0));
    expect(Math.max(...gaps)).toBeLessThan(tolerance);
  };
  const inTime = testsWithin(timeoutS);
  describe(`${name} keeps the Learner contract`, () => {
    let folder: string;
    let learner: Learner;
    let atStart: readonly Float32Array[];
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'learner-contract-'));
      learner = await open();
      atStart = await learner.forward(tokens, asPolicy);
    }, 1000 * timeoutS);
    afterAll(async () => {
      await learner.close();
      await rm(folder, { recursive: true });
    });

    /** The log-probabilities after one step on what was accumulated by `learn`, with the starting weights again. */
    const after = async (learn: (one: Learner) => Promise<unknown>) => {
      const other = await open();
      try {
        await learn(other);
        await other.optimStep(optim);
        return await other.forward(tokens, asPolicy);
      } finally {
        await other.close();
      }
    };

    inTime('describes itself and how it publishes its weights', async () => {
      const info = await learner.describe();
      expect(info.name).toMatch(/\S/);
      expect(info.trainedParameters).toBeLessThanOrEqual(info.parameters);
      expect(info.publishes.length).toBeGreaterThan(0);
    });

    inTime('scores each token given those before it, whatever else is scored with it', async () => {
      for (const [i, row] of atStart.entries()) {
        expect([row.length, row[0]]).toEqual([tokens[i]!.length, 0]);
        expect(row.every((value) => Number.isFinite(value) && value <= 0)).toBe(true);
      }
      const [alone] = await learner.forward([tokens[1]!], asPolicy);
      closeTo([alone!], [atStart[1]!]);
    });

    inTime('scores only what is requested', async () => {
      const wanted = tokens.map(({ length }) => Array.from({ length }, (_, i) => Number(i === 4)));
      const some = await learner.forward(tokens, { ...asPolicy, wanted });
      const expected = atStart.map((row) => row.map((value, i) => (i === 4 ? value : 0)));
      closeTo(some, expected);
    });

    inTime('lists the likeliest tokens in each place, where it can', async () => {
      const topK = 3;
      const listing: Learner & Partial<ListingLearner> = learner;
      const scored = await listing.forwardTop?.(tokens, { ...asPolicy, topK });
      if (scored === undefined) return;
      closeTo(
        scored.map(({ logProbs }) => logProbs),
        atStart,
      );
      for (const [i, { top }] of scored.entries())
        for (const place of tokens[i]!.keys()) {
          const listed = top.logProbs.subarray(place * topK, (place + 1) * topK);
          const ids = top.ids.subarray(place * topK, (place + 1) * topK);
          if (place === 0) expect([...ids, ...listed]).toEqual([0, 0, 0, 0, 0, 0]);
          else expect([...listed]).toEqual([...listed].toSorted((a, b) => b - a));
          const own = ids.indexOf(tokens[i]![place]!);
          if (place > 0 && own >= 0)
            closeTo([listed.subarray(own, own + 1)], [atStart[i]!.subarray(place, place + 1)]);
          else if (place > 0) expect(atStart[i]![place]).toBeLessThan(listed[2]! + tolerance);
        }
    });

    inTime('returns the log-probabilities of the data it learns, and raises them', async () => {
      let told: readonly Float32Array[] = [];
      const learned = await after(async (one) => {
        ({ logProbs: told } = await one.forwardBackward(batchOf(data), crossEntropy));
      });
      closeTo(told, atStart);
      const sum = (rows: readonly Float32Array[]) =>
        rows.reduce((all, row) => row.reduce((a, b) => a + b, all), 0);
      expect(sum(learned)).toBeGreaterThan(sum(atStart));
    });

    inTime('adds up the gradients of several batches before a step', async () => {
      const whole = await after((one) => one.forwardBackward(batchOf(data), crossEntropy));
      const parts = await after(async (one) => {
        for (const part of data) await one.forwardBackward(batchOf([part]), crossEntropy);
      });
      closeTo(parts, whole);
    });

    inTime('forgets gradients that are discarded', async () => {
      const still = await after(async (one) => {
        await one.forwardBackward(batchOf(data), crossEntropy);
        await one.discardGradients();
      });
      closeTo(still, atStart);
    });

    inTime('refuses a batch of another schema', async () => {
      const other = { ...batchOf(data), schema: (batchSchema + 1) as never };
      const refused = learner.forwardBackward(other, crossEntropy);
      await expect(refused).rejects.toMatchObject({ code: 'SHAPE_MISMATCH' });
    });

    inTime('saves its state and continues from it: the next step is the same', async () => {
      const saved = join(folder, 'state');
      const step = async (one: Learner) => {
        await one.forwardBackward(batchOf(data), crossEntropy);
        await one.optimStep(optim);
      };
      const went = await after(async (one) => {
        await step(one);
        expect((await one.saveState(saved)).weightsSha256).toMatch(/^[0-9a-f]{64}$/);
        await one.forwardBackward(batchOf(data), crossEntropy);
      });
      const resumed = await after(async (one) => {
        await one.loadState(saved);
        await one.forwardBackward(batchOf(data), crossEntropy);
      });
      closeTo(resumed, went);
    });

    inTime('publishes its weights, a higher version after each step', async () => {
      const other = await open();
      const { publishes } = await other.describe();
      const target =
        publishes[0] === 'folder'
          ? ({ kind: 'folder', folder: join(folder, 'weights') } as const)
          : ({ kind: publishes[0]! } as const);
      const before = await other.exportWeights(target);
      await other.forwardBackward(batchOf(data), crossEntropy);
      await other.optimStep(optim);
      const published = await other.exportWeights(target);
      await other.close();
      expect(published.kind).toBe(target.kind);
      expect(published.version).toBeGreaterThan(before.version);
      const isThere = published.kind !== 'folder' || (await stat(published.location)).isDirectory();
      expect(isThere).toBe(true);
    });
  });
}
