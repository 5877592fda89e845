import { describe, expect, test } from '@jest/globals';

import {
  type Generation,
  type GenerationRequest,
  type GenerationTotals,
  type Sampler,
} from '#agent_rl/core/services/generator.ts';
import { sideBySide, SpreadSampler } from '#agent_rl/engine-thread/decoder-threads.ts';
import { ownWeights, shareWeights } from '#agent_rl/engine-thread/shared-weights.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';

const request = (episode: string, taskId = episode): GenerationRequest =>
  requestOf(episode, { key: { seed: 1, taskId, sample: 0, turn: 0 } });

/** Writes down what it is asked, and answers at once, or never. */
class Witness implements Sampler {
  readonly asked: string[] = [];
  readonly released: string[] = [];

  generate({ episode }: GenerationRequest): Promise<Generation> {
    this.asked.push(episode);
    if (episode === 'failing') return Promise.reject(new Error('broken'));
    return Promise.resolve({ tokens: [], logProbs: [], stop: 'max-tokens', version: 0 });
  }

  release(episode: string): void {
    this.released.push(episode);
  }
}

describe('The episode spreader', () => {
  test('gives an episode to the sampler with the fewest and keeps it there', async () => {
    const [one, two] = [new Witness(), new Witness()];
    const spread = new SpreadSampler([one, two]);
    for (const episode of ['a', 'b', 'c', 'a', 'b']) await spread.generate(request(episode));
    expect([one.asked, two.asked]).toEqual([
      ['a', 'c', 'a'],
      ['b', 'b'],
    ]);
    spread.release('a');
    spread.release('c');
    expect([one.released, two.released]).toEqual([['a', 'c'], []]);
    for (const episode of ['d', 'e']) await spread.generate(request(episode));
    expect([one.asked.slice(3), two.asked.slice(2)]).toEqual([['d', 'e'], []]);
  });

  test('puts an episode beside others of its task unless that sampler has eight more than another', async () => {
    const [one, two] = [new Witness(), new Witness()];
    const spread = new SpreadSampler([one, two]);
    await spread.generate(request('a0', 'a'));
    await spread.generate(request('b0', 'b'));
    for (let sample = 1; sample <= 8; sample++) await spread.generate(request(`a${sample}`, 'a'));
    expect(one.asked).toHaveLength(9);
    await spread.generate(request('a9', 'a'));
    await spread.generate(request('b1', 'b'));
    expect(two.asked).toEqual(['b0', 'a9', 'b1']);
  });

  test('puts an episode elsewhere when the sampler of its task has no free row', async () => {
    const [one, two] = [new Witness(), new Witness()];
    const spread = new SpreadSampler([one, two], 2);
    for (const episode of ['a0', 'a1', 'a2']) await spread.generate(request(episode, 'a'));
    expect([one.asked, two.asked]).toEqual([['a0', 'a1'], ['a2']]);
  });

  test('releases an episode once and ignores unknown ones', async () => {
    const one = new Witness();
    const spread = new SpreadSampler([one]);
    await spread.generate(request('a'));
    for (const episode of ['a', 'a', 'unknown']) spread.release(episode);
    expect(one.released).toEqual(['a']);
  });

  test('counts the requests under way, including failed ones', async () => {
    const spread = new SpreadSampler([new Witness(), new Witness()]);
    const drawing = spread.generate(request('a'));
    const failing = spread.generate(request('failing'));
    expect(spread.drawing).toBe(2);
    await drawing;
    await expect(failing).rejects.toThrow('broken');
    expect(spread.drawing).toBe(0);
  });
});

test('the totals of parallel samplers are sums, except seconds, which come from the busiest', () => {
  const names = 'steps sampled fed prefilled shared drafted accepted'.split(' ');
  const named = (times: number) =>
    Object.fromEntries(
      names.map((name, at) => [name === 'steps' ? name : `${name}Tokens`, times * (at + 1)]),
    );
  const of = (runS: number, totalS: number) => ({ ...named(1), runS, totalS }) as GenerationTotals;
  expect(sideBySide([of(5, 7), of(6, 6)])).toEqual({ ...named(2), runS: 6, totalS: 7 });
});

test('shared weights are copies, and so are the copies that a thread makes of them', () => {
  const weights = new Map<string, Float32Array | Uint8Array>([
    ['floats', Float32Array.from([1, 2])],
    ['codes', Uint8Array.from([3])],
  ]);
  const shared = shareWeights(weights);
  const own = ownWeights(shared);
  weights.get('floats')![0] = 9;
  shared.get('codes')![0] = 9;
  expect(shared.get('floats')).toEqual(Float32Array.from([1, 2]));
  expect(shared.get('floats')?.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(own.get('codes')).toEqual(Uint8Array.from([3]));
  expect(own.get('codes')?.buffer).toBeInstanceOf(ArrayBuffer);
});
