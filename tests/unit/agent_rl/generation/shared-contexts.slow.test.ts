import { describe, expect, test } from '@jest/globals';

import {
  type Generation,
  greedy,
  type Sampling,
  unbiased,
} from '#agent_rl/core/services/generator.ts';
import type { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { openTinyGenerator, peakedParameters, playTurns } from '#tests/support/tiny-generator.ts';

const engine = cpuEngine();

const open = (rows: number): Promise<LocalGenerator> =>
  openTinyGenerator(engine, { rows, maxContextTokens: 192 });

/** What tools answer in a turn, the same to all: short ones are fed by steps, long ones in chunks. */
const results = [4, 30, 90].map((length, turn) =>
  Array.from({ length }, (_, at) => (at * 7 + turn * 5) % 24),
);
const prompts = [0, 1, 2].map((task) =>
  Array.from({ length: 5 + task }, (_, at) => (at * 3 + task) % 24),
);

interface Episode {
  task: number;
  sample: number;
  sampling?: Sampling;
}

const play = (generator: LocalGenerator, { task, sample, sampling = unbiased }: Episode) =>
  playTurns(generator, prompts[task]!, results, (turn) => ({
    episode: `${task} ${sample}`,
    maxTokens: 8,
    stopTokens: [11],
    sampling,
    key: { seed: 5, taskId: String(task), sample, turn },
  }));

const playAll = (generator: LocalGenerator, episodes: readonly Episode[]) =>
  Promise.all(episodes.map((episode) => play(generator, episode)));

async function playApart(episodes: readonly Episode[]): Promise<Generation[][]> {
  const all: Generation[][] = [];
  const generator = await open(4);
  for (const episode of episodes) {
    // Other weights in between: nothing of the episode before is known.
    await generator.setWeights(peakedParameters, 3);
    all.push(await play(generator, episode));
  }
  expect(generator.totals.sharedTokens).toBe(0);
  return all;
}

const groupOf = (task: number, count: number, sampling?: Sampling): Episode[] =>
  Array.from({ length: count }, (_, sample) => ({ task, sample, ...(sampling && { sampling }) }));

const samplings: Readonly<Record<string, Sampling>> = {
  'as the model is': unbiased,
  'at a low temperature': { ...unbiased, temperature: 0.25 },
  greedily: greedy,
  'from the likeliest': { ...unbiased, topK: 3, topP: 0.9, temperature: 0.5 },
};

describe('A generator with shared contexts', () => {
  test.each(Object.entries(samplings))(
    'computes a shared context once, and each episode draws as if alone: %s',
    async (_name, sampling) => {
      const episodes = groupOf(0, 8, sampling);
      const together = await open(8);
      const made = await playAll(together, episodes);
      expect(made).toEqual(await playApart(episodes));
      const { sharedTokens, fedTokens } = together.totals;
      expect(sharedTokens).toBeGreaterThan(0);
      expect(fedTokens).toBeLessThan(8 * 40);
    },
  );

  test('shares between several tasks, more than rows, with different sampling', async () => {
    const episodes = [
      ...groupOf(0, 6),
      ...groupOf(1, 5, samplings['at a low temperature']),
      ...groupOf(2, 4, greedy),
      ...[4, 5, 6].map((sample) => ({ task: 2, sample })),
    ];
    const together = await open(8);
    const made = await playAll(together, episodes);
    expect(made).toEqual(await playApart(episodes));
    expect(together.totals.sharedTokens).toBeGreaterThan(100);
  });

  test.each(Object.entries(samplings))(
    'draws the same in fewer steps when it remembers: %s',
    async (_name, sampling) => {
      const generator = await open(4);
      const episode = { task: 0, sample: 0, sampling };
      const first = await play(generator, episode);
      const before = generator.totals;
      await generator.setWeights(peakedParameters, 3);
      expect(await play(generator, episode)).toEqual(first);
      const { steps, acceptedTokens } = generator.totals;
      expect(acceptedTokens).toBeGreaterThan(before.acceptedTokens);
      expect(steps - before.steps).toBeLessThan(before.steps);
    },
  );

  // The first may be a step ahead before it is known that others come.
  test('computes each context once while episodes agree', async () => {
    const alone = await open(4);
    await play(alone, { task: 1, sample: 0, sampling: greedy });
    const together = await open(8);
    await playAll(together, groupOf(1, 8, greedy));
    expect(together.totals.prefilledTokens).toBe(alone.totals.prefilledTokens);
    expect(together.totals.fedTokens).toBeLessThan(alone.totals.fedTokens + 3);
    expect(together.totals.steps).toBeLessThan(alone.totals.steps + 3);
  });

  test('forgets all contexts with other weights', async () => {
    const generator = await open(8);
    const episodes = groupOf(0, 4, greedy);
    const made = await playAll(generator, episodes);
    const others = new Map(
      [...peakedParameters].map(([name, values]) => [name, values.map((v) => v * 0.9)]),
    );
    await generator.setWeights(others, 4);
    const later = await playAll(generator, episodes);
    expect(later.flatMap((turns) => turns.map(({ version }) => version))).toEqual(
      Array.from({ length: 16 }, () => 4),
    );
    expect(later[0]![0]!.logProbs).not.toEqual(made[0]![0]!.logProbs);
    const fresh = await open(8);
    await fresh.setWeights(others, 4);
    expect(await playAll(fresh, episodes)).toEqual(later);
  });

  test('continues the others when one episode is released', async () => {
    const generator = await open(8);
    const episodes = groupOf(0, 6, samplings['at a low temperature']);
    const first = { ...episodes[0]!, sample: 9 };
    const leaving = play(generator, first);
    const staying = episodes.map((episode) => play(generator, episode));
    setTimeout(() => generator.release('0 9'), 3);
    await leaving.catch(() => undefined);
    expect(await Promise.all(staying)).toEqual(await playApart(episodes));
  });
});
