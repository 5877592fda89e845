import { describe, expect, test } from '@jest/globals';

import {
  type Generation,
  greedy,
  type Sampling,
  unbiased,
} from '#agent_rl/core/services/generator.ts';
import type { KvCache } from '#agent_rl/generation/cache/kv-cache.ts';
import type { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import type { StepsInputs } from '#agent_rl/generation/programs/step-result.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { request } from '#tests/support/generation-request.ts';
import { openTinyGenerator, peakedParameters, playTurns } from '#tests/support/tiny-generator.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();

const maxContextTokens = 192;

/** Feeds long texts window by window, as programs of larger models do. */
class WindowPrograms extends DecoderPrograms {
  override fillsWindows({ pending }: { pending: readonly number[] }): boolean {
    return pending.length > 20;
  }
}

const open = (rows: number, Programs = DecoderPrograms): Promise<LocalGenerator> => {
  const programs = new Programs(engine, tinyModelConfig, maxContextTokens);
  return openTinyGenerator(engine, { rows, maxContextTokens, programs });
};

/** What tools answer in a turn, the same to all. */
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

/** Tokens that episodes are fed where none is taken over: the last of the prompt instead of the last that is drawn, the others, and results. */
const fedApart = (made: readonly Generation[][]): number =>
  made.reduce((all, turns) => {
    const drawn = turns.reduce((sum, { tokens }) => sum + tokens.length, 0);
    return all + drawn + results.flat().length;
  }, 0);

const groupOf = (task: number, count: number, sampling?: Sampling): Episode[] =>
  Array.from({ length: count }, (_, sample) => ({ task, sample, ...(sampling && { sampling }) }));

const samplings: Readonly<Record<string, Sampling>> = {
  'as the model is': unbiased,
  'at a low temperature': { ...unbiased, temperature: 0.25 },
  greedily: greedy,
  'from the likeliest': { ...unbiased, topK: 3, topP: 0.9, temperature: 0.5 },
};

describe('A generator with shared contexts', () => {
  test.each(Object.entries(samplings))('draws as if alone: %s', async (_name, sampling) => {
    const episodes = groupOf(0, 8, sampling);
    const together = await open(8);
    const made = await playAll(together, episodes);
    expect(made).toEqual(await playApart(episodes));
    const { sharedTokens, fedTokens } = together.totals;
    expect(sharedTokens).toBeGreaterThan(0);
    expect(fedTokens + sharedTokens).toBe(fedApart(made));
  });

  test('draws the same where long texts are fed window by window', async () => {
    const episodes = groupOf(0, 8);
    const windows = await open(8, WindowPrograms);
    expect(await playAll(windows, episodes)).toEqual(await playApart(episodes));
    // 30 and 90 tokens of each episode: the last 20 at most are not fed so.
    expect(windows.totals.prefilledTokens).toBeGreaterThan(8 * 64);
  });

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
    'draws what it knows in fewer steps: %s',
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

/** Notes how many steps every run of several had, and waits for `hold` before each. */
class NotedPrograms extends DecoderPrograms {
  readonly runs: number[] = [];
  hold: Promise<void> = Promise.resolve();

  override async steps(inputs: StepsInputs, cache: KvCache) {
    this.runs.push(inputs.tokens.length / inputs.positions.length);
    await this.hold;
    return super.steps(inputs, cache);
  }
}

async function openNoted(stepsAtOnce: number, rows = 6) {
  const programs = new NotedPrograms(engine, tinyModelConfig, maxContextTokens, { stepsAtOnce });
  const generator = await openTinyGenerator(engine, { rows, maxContextTokens, programs });
  return { generator, programs };
}

/** What tools answer in a turn: few tokens, and then enough for a chunk. */
const fewAndMany = [4, 17, 80].map((length, turn) =>
  Array.from({ length }, (_, at) => (at * 7 + turn * 5) % 24),
);

const playSample = (
  generator: LocalGenerator,
  { sample, sampling = unbiased }: { sample: number; sampling?: Sampling },
): Promise<Generation[]> => {
  const prompt = Array.from({ length: 5 + 3 * (sample % 3) }, (_, at) => (at * 3 + sample) % 24);
  return playTurns(generator, prompt, fewAndMany, (turn) => ({
    episode: `episode ${sample}`,
    maxTokens: 7 + 9 * turn,
    stopTokens: [2, 11],
    sampling,
    key: { seed: 1, taskId: 'task', sample, turn },
  }));
};

const playSamples = (generator: LocalGenerator, sampling?: Sampling): Promise<Generation[][]> =>
  Promise.all(
    Array.from({ length: 9 }, (_, sample) =>
      playSample(generator, { sample, ...(sampling && { sampling }) }),
    ),
  );

const tokensOf = (all: readonly Generation[][]) =>
  all.map((turns) => turns.map(({ tokens, stop }) => ({ tokens, stop })));
const logProbsOf = (all: readonly Generation[][]): number[] =>
  all.flatMap((turns) => turns.flatMap(({ logProbs }) => logProbs));

describe('A run of several steps', () => {
  test.each([
    [2, unbiased],
    [5, unbiased],
    [16, unbiased],
    [16, greedy],
    [16, { ...unbiased, temperature: 1.7 }],
  ])('draws, with %i steps, what single steps draw', async (most, sampling) => {
    const single = await openNoted(1);
    const several = await openNoted(most);
    const expected = await playSamples(single.generator, sampling);
    const found = await playSamples(several.generator, sampling);
    expect(tokensOf(found)).toEqual(tokensOf(expected));
    const stops = new Set(expected.flatMap((turns) => turns.map(({ stop }) => stop)));
    expect(stops).toEqual(new Set(['stop-token', 'max-tokens']));
    const logProbs = logProbsOf(found);
    const gaps = logProbsOf(expected).map((logProb, at) => Math.abs(logProb - logProbs[at]!));
    expect(Math.max(...gaps)).toBeLessThan(1e-5);
    expect(single.programs.runs).toEqual([]);
    expect(Math.max(...several.programs.runs)).toBe(most);
    const [all, alike] = [several, single].map(({ generator: { totals } }) => totals);
    expect(all!.sampledTokens).toBe(logProbs.length);
    expect(all!.fedTokens + all!.prefilledTokens).toBe(alike!.fedTokens + alike!.prefilledTokens);
  });

  test('has at most as many steps as the longest turn', async () => {
    const { generator, programs } = await openNoted(16);
    const draw = (sample: number, maxTokens: number) => {
      const key = { seed: 1, taskId: 'task', sample, turn: 0 };
      return generator.generate(
        request(`episode ${sample}`, { tokens: [3, 4, 5], maxTokens, key }),
      );
    };
    // The first is drawn alone until the second has come.
    await Promise.all([draw(0, 21), draw(1, 3)]);
    expect(programs.runs).toEqual([16, 5]);
  });

  test('ends where the context is full', async () => {
    const { generator } = await openNoted(16);
    const context = Array.from({ length: maxContextTokens - 6 }, (_, at) => at % 24);
    const asked = request('full', { tokens: context, maxTokens: 50 });
    const { tokens, stop } = await generator.generate(asked);
    expect([tokens.length, stop]).toEqual([6, 'context-full']);
  });

  test('is not used while a slot draws from a truncated distribution', async () => {
    const [single, several] = [await openNoted(1), await openNoted(16)];
    const sampling = { ...unbiased, topK: 5 };
    const found = await playSamples(several.generator, sampling);
    expect(tokensOf(found)).toEqual(tokensOf(await playSamples(single.generator, sampling)));
    expect(several.programs.runs).toEqual([]);
  });

  test('leaves alone a row that was released during the run', async () => {
    const { generator, programs } = await openNoted(16, 1);
    let go = (): void => undefined;
    programs.hold = new Promise((resolve) => (go = resolve));
    const first = playSample(generator, { sample: 0 });
    while (programs.runs.length === 0) await new Promise((resolve) => setImmediate(resolve));
    generator.release('episode 0');
    const second = playSample(generator, { sample: 1 });
    go();
    const [ended] = await first;
    expect(ended).toMatchObject({ tokens: [], stop: 'aborted' });
    const alone = await openNoted(1, 1);
    expect(tokensOf([await second])).toEqual(
      tokensOf([await playSample(alone.generator, { sample: 1 })]),
    );
  });
});
