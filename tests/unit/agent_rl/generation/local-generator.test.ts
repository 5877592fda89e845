import { describe, expect, test } from '@jest/globals';

import { type GenerationRequest, greedy, unbiased } from '#agent_rl/core/services/generator.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import type { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { SteppedGenerator } from '#agent_rl/gateway/sampling/stepped-generator.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { cpuEngine } from '#tests/support/cpu-engine.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';
import { openTinyGenerator, peakedParameters } from '#tests/support/tiny-generator.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const engine = cpuEngine();

const open = (rows: number, maxContextTokens = 64): Promise<LocalGenerator> =>
  openTinyGenerator(engine, { rows, maxContextTokens });

/** Prompts are not computed while it is closed. */
class GatedPrograms extends DecoderPrograms {
  #opened = Promise.resolve();
  #asked = 0;
  open = (): void => undefined;

  close(): void {
    this.#asked = 0;
    this.#opened = new Promise((resolve) => (this.open = resolve));
  }

  /** Until a prompt is to be computed. */
  async asked(): Promise<void> {
    while (this.#asked === 0) await someTicks();
  }

  override async prefill(tokens: readonly number[]) {
    this.#asked += 1;
    await this.#opened;
    return super.prefill(tokens);
  }
}

async function gated(rows: number) {
  const programs = new GatedPrograms(engine, tinyModelConfig, 64);
  const generator = await openTinyGenerator(engine, { rows, maxContextTokens: 64, programs });
  return { generator, programs };
}

async function someTicks(): Promise<void> {
  for (let tick = 0; tick < 6; tick++) await new Promise((resolve) => setImmediate(resolve));
}

const request = (
  episode: string,
  tokens: readonly number[],
  over: Partial<GenerationRequest> = {},
) => requestOf(episode, { tokens, maxTokens: 12, ...over });

const prompts = Array.from({ length: 9 }, (_, i) =>
  Array.from({ length: 3 + i }, (__, t) => (i * 7 + t * 3) % 24),
);

describe('LocalGenerator', () => {
  test('draws the same tokens and log-probabilities, bit for bit, alone and in a batch', async () => {
    const alone = await open(4);
    const together = await open(16);
    const all = prompts.map((prompt, i) => request(`e${i}`, prompt, { maxTokens: 6 + i }));
    const single = [];
    for (const one of all) {
      single.push(await alone.generate(one));
      alone.release(one.episode);
    }
    expect(await Promise.all(all.map((one) => together.generate(one)))).toEqual(single);
  });

  test('draws the same bits for a turn requested in parts', async () => {
    const generator = await open(2);
    const one = request('whole', prompts[2] as number[], { maxTokens: 20 });
    const whole = await generator.generate(one);
    const steps = new SteppedGenerator(generator);
    const looks: number[] = [];
    steps.listen('parts', (tokens) => {
      looks.push(tokens.length);
      return false;
    });
    expect(await steps.generate({ ...one, episode: 'parts' })).toEqual(whole);
    expect(looks).toEqual([8, 16, 20]);
  });

  test('draws the same bits when the cache grows', async () => {
    const [alone, together] = [await open(4, 256), await open(8, 256)];
    const long = Array.from({ length: 50 }, (_, t) => (t * 5) % 24);
    const one = request('long', long, { maxTokens: 100 });
    const others = prompts
      .slice(0, 5)
      .map((prompt, i) => request(`e${i}`, prompt, { maxTokens: 20 * i + 1 }));
    const single = await alone.generate(one);
    const [grown] = await Promise.all([one, ...others].map((each) => together.generate(each)));
    expect(grown).toEqual(single);
    expect(single.tokens).toHaveLength(100);
  });

  const four = ['a', 'b', 'c', 'd'];
  /** All four rows are free: as many episodes are drawn at once. */
  async function expectFreeRows(generator: LocalGenerator): Promise<void> {
    const drawn = four.map((name) => generator.generate(request(`later ${name}`, [1, 2])));
    expect((await Promise.all(drawn)).map(({ tokens }) => tokens.length)).toEqual([12, 12, 12, 12]);
  }

  test('returns the request of an episode released while it waits for a row', async () => {
    const generator = await open(4);
    const held = four.map((name) => generator.generate(request(name, [1, 2, 3])));
    const waiting = generator.generate(request('late', [1, 2, 3]));
    generator.release('late');
    expect((await waiting).stop).toBe('aborted');
    await Promise.all(held);
    for (const name of four) generator.release(name);
    await expectFreeRows(generator);
  });

  test('frees the row of an episode released during its prompt or its draws', async () => {
    const generator = await open(4);
    const doomed = four.map((name) => generator.generate(request(name, [1, 2, 3])));
    for (const name of four) generator.release(name);
    expect((await Promise.all(doomed)).map(({ stop }) => stop)).toEqual(Array(4).fill('aborted'));
    await expectFreeRows(generator);
  });

  test('gives no row to an episode released while another one gets a row', async () => {
    const { generator, programs } = await gated(4);
    const drawing = generator.generate(request('drawing', prompts[0]!, { maxTokens: 30 }));
    await someTicks();
    programs.close();
    const [one, two] = ['one', 'two'].map((name, at) =>
      generator.generate(request(name, prompts[at + 1]!)),
    );
    await programs.asked();
    generator.release('two');
    programs.open();
    expect((await two!).stop).toBe('aborted');
    await Promise.all([drawing, one]);
    for (const name of ['drawing', 'one']) generator.release(name);
    await expectFreeRows(generator);
  });

  test('gives a waiting episode a row freed during a prompt', async () => {
    const { generator, programs } = await gated(4);
    const idle = ['a', 'b', 'c'];
    for (const [at, name] of idle.entries())
      await generator.generate(request(name, prompts[at]!, { maxTokens: 1 }));
    await someTicks();
    programs.close();
    const placed = generator.generate(request('placed', prompts[5]!));
    await programs.asked();
    const waiting = generator.generate(request('waiting', prompts[6]!));
    for (const name of [...idle, 'placed']) generator.release(name);
    programs.open();
    expect((await placed).stop).toBe('aborted');
    expect((await waiting).tokens).toHaveLength(12);
  });

  test('refuses new weights while tokens are being drawn', async () => {
    const generator = await open(4);
    const running = generator.generate(request('a', [1, 2, 3]));
    await expect(generator.setWeights(peakedParameters, 4)).rejects.toThrow('Wait for');
    expect((await running).version).toBe(3);
  });

  test('continues an episode with new weights as if it had begun with them', async () => {
    const other = initialParameters(tinyModelConfig, new KeyedRng(8));
    const [changed, fresh] = [await open(4), await open(4)];
    const prompt = prompts[2] as number[];
    const first = await changed.generate(request('e', prompt, { maxTokens: 4 }));
    await changed.setWeights(other, 4);
    await fresh.setWeights(other, 4);
    const second = request('e', [...prompt, ...first.tokens, 5, 6], { maxTokens: 6 });
    const continued = await changed.generate(second);
    expect(continued).toEqual(await fresh.generate(second));
    expect(continued.version).toBe(4);
  });

  test('draws only kept tokens in truncated sampling, with renormalised log-probabilities', async () => {
    const generator = await open(4);
    const one = request('a', [1, 2, 3], { sampling: { ...unbiased, topK: 1 } });
    const { tokens, logProbs } = await generator.generate(one);
    const likeliest = await generator.generate(request('b', [1, 2, 3], { sampling: greedy }));
    expect(tokens).toEqual(likeliest.tokens);
    expect(logProbs).toEqual(tokens.map(() => 0));
  });

  test('refuses a context that does not continue its episode and continues the others', async () => {
    const generator = await open(4);
    await generator.generate(request('a', [1, 2, 3]));
    await expect(generator.generate(request('a', [5, 5]))).rejects.toThrow('does not continue');
    expect((await generator.generate(request('b', [1, 2]))).tokens).toHaveLength(12);
  });
});

describe('A turn that is requested again', () => {
  const turn = request('again', [1, 2, 3]);

  test('is drawn unchanged after the engine failed once', async () => {
    const whole = await (await open(2)).generate(turn);
    const programs = new DecoderPrograms(engine, tinyModelConfig, 64);
    const generator = await openTinyGenerator(engine, { rows: 2, maxContextTokens: 64, programs });
    const step = programs.step.bind(programs);
    let steps = 0;
    programs.step = async (...given) => {
      steps += 1;
      if (steps === 3) throw new Error('An allocation failed once.');
      return step(...given);
    };
    const other = generator.generate(request('other', [4, 5])).catch(String);
    await expect(generator.generate(turn)).rejects.toThrow('An allocation failed once.');
    expect(await other).toContain('An allocation failed once.');
    expect(await generator.generate(turn)).toEqual(whole);
    // The rows of both are free again.
    expect((await generator.generate(request('third', [6, 7]))).tokens).toHaveLength(12);
  });

  test('is drawn unchanged after its answer was lost, and the episode continues', async () => {
    const generator = await open(1);
    const first = await generator.generate(turn);
    expect(await generator.generate(turn)).toEqual(first);
    const next = { ...turn, tokens: [...turn.tokens, ...first.tokens, 9] };
    const second = await generator.generate(next);
    expect(await generator.generate(next)).toEqual(second);
    expect(await (await open(1)).generate(next)).toEqual(second);
  });

  test('is drawn unchanged after it was aborted', async () => {
    const whole = await (await open(1)).generate(turn);
    const generator = await open(1);
    const abort = new AbortController();
    const doomed = generator.generate({ ...turn, maxTokens: 40 }, abort.signal);
    await someTicks();
    abort.abort();
    expect((await doomed).stop).toBe('aborted');
    expect(await generator.generate(turn)).toEqual(whole);
  });
});
