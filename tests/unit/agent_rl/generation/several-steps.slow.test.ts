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
import { openTinyGenerator, playTurns } from '#tests/support/tiny-generator.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();

const maxContextTokens = 192;

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

async function open(stepsAtOnce: number, rows = 6) {
  const programs = new NotedPrograms(engine, tinyModelConfig, maxContextTokens, { stepsAtOnce });
  const generator = await openTinyGenerator(engine, { rows, maxContextTokens, programs });
  return { generator, programs };
}

/** What tools answer in a turn: few tokens, and then enough for a chunk. */
const results = [4, 17, 80].map((length, turn) =>
  Array.from({ length }, (_, at) => (at * 7 + turn * 5) % 24),
);

const play = (
  generator: LocalGenerator,
  { sample, sampling = unbiased }: { sample: number; sampling?: Sampling },
): Promise<Generation[]> => {
  const prompt = Array.from({ length: 5 + 3 * (sample % 3) }, (_, at) => (at * 3 + sample) % 24);
  return playTurns(generator, prompt, results, (turn) => ({
    episode: `episode ${sample}`,
    maxTokens: 7 + 9 * turn,
    stopTokens: [2, 11],
    sampling,
    key: { seed: 1, taskId: 'task', sample, turn },
  }));
};

const playAll = (generator: LocalGenerator, sampling?: Sampling): Promise<Generation[][]> =>
  Promise.all(
    Array.from({ length: 9 }, (_, sample) =>
      play(generator, { sample, ...(sampling && { sampling }) }),
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
  ])(
    'draws, with %i steps, what single steps draw, over turns that stop or are cut off',
    async (most, sampling) => {
      const single = await open(1);
      const several = await open(most);
      const expected = await playAll(single.generator, sampling);
      const found = await playAll(several.generator, sampling);
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
    },
  );

  test('has at most as many steps as the longest turn', async () => {
    const { generator, programs } = await open(16);
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
    const { generator } = await open(16);
    const context = Array.from({ length: maxContextTokens - 6 }, (_, at) => at % 24);
    const asked = request('full', { tokens: context, maxTokens: 50 });
    const { tokens, stop } = await generator.generate(asked);
    expect([tokens.length, stop]).toEqual([6, 'context-full']);
  });

  test('is not used while a slot draws from a truncated distribution', async () => {
    const [single, several] = [await open(1), await open(16)];
    const sampling = { ...unbiased, topK: 5 };
    const found = await playAll(several.generator, sampling);
    expect(tokensOf(found)).toEqual(tokensOf(await playAll(single.generator, sampling)));
    expect(several.programs.runs).toEqual([]);
  });

  test('leaves alone a row that was released during the run', async () => {
    const { generator, programs } = await open(16, 1);
    let go = (): void => undefined;
    programs.hold = new Promise((resolve) => (go = resolve));
    const first = play(generator, { sample: 0 });
    while (programs.runs.length === 0) await new Promise((resolve) => setImmediate(resolve));
    generator.release('episode 0');
    const second = play(generator, { sample: 1 });
    go();
    const [ended] = await first;
    expect(ended).toMatchObject({ tokens: [], stop: 'aborted' });
    const alone = await open(1, 1);
    expect(tokensOf([await second])).toEqual(
      tokensOf([await play(alone.generator, { sample: 1 })]),
    );
  });
});
