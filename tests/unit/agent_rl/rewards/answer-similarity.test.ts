import { describe, expect, test } from '@jest/globals';

import type { Embedder } from '#agent_rl/core/services/search.ts';
import {
  AnswerSimilarity,
  openSimilarityScale,
  SimilarityScale,
} from '#agent_rl/rewards/answer-similarity/answer-similarity.ts';
import {
  calibrated,
  randomPairFloor,
} from '#agent_rl/rewards/answer-similarity/similarity-scale.ts';
import { cosine } from '#agent_rl/search/corpus/embedders/unit-vector.ts';
import { wordEmbedder } from '#agent_rl/rewards/answer-similarity/word-embedder.ts';
import { episodeOf } from '#tests/support/episodes.ts';
import * as fc from '#tests/support/properties.ts';

/** Gives each text a vector in the plane by the angle it names, in degrees. */
class AngleEmbedder implements Embedder {
  readonly name = 'angles';
  readonly asked: string[] = [];

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    this.asked.push(...texts);
    const angles = texts.map((text) => (Number(text) * Math.PI) / 180);
    return angles.map((angle) => Float32Array.of(Math.cos(angle), Math.sin(angle)));
  }

  async close(): Promise<void> {}
}

const task = (answer: string) => ({ taskId: answer, prompt: '', metadata: { answer } });

describe('The similarity scale', () => {
  test.each([
    [1, 0.5, 1],
    [0.75, 0.5, 0.5],
    [0.5, 0.5, 0],
    [0.2, 0.5, 0],
    [0.5, -1, 0.75],
  ])('maps cosine %d above floor %d to %d', (similarity, floor, value) => {
    expect(calibrated(similarity, floor)).toBeCloseTo(value, 12);
  });

  test('lies between 0 and 1 and never falls as the cosine rises', () => {
    const number = fc.double({ min: -1, max: 1, noNaN: true });
    const floors = fc.double({ min: -1, max: 0.99, noNaN: true });
    fc.assert(
      fc.property(number, number, floors, (a, b, floor) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        expect(calibrated(low, floor)).toBeGreaterThanOrEqual(0);
        expect(calibrated(high, floor)).toBeLessThanOrEqual(1);
        expect(calibrated(high, floor)).toBeGreaterThanOrEqual(calibrated(low, floor));
      }),
    );
  });

  test('maps the mean cosine of random pairs of different answers to 0', async () => {
    // One pair is all there is: 0 and 60 degrees, whose cosine is 1/2.
    const floor = await randomPairFloor(new AngleEmbedder(), ['0', '60', '0'], 64);
    expect(floor).toBeCloseTo(0.5, 6);
  });

  test('does not depend on the order of the tasks, and limits the number of pairs', async () => {
    const answers = Array.from({ length: 90 }, (_, angle) => String(angle));
    const embedder = new AngleEmbedder();
    const floor = await randomPairFloor(embedder, answers, 10);
    expect(embedder.asked).toHaveLength(20);
    expect(await randomPairFloor(embedder, answers.toReversed(), 10)).toBe(floor);
  });

  test('is refused with one answer, or with an embedder that cannot distinguish answers', async () => {
    const floorOf = (...answers: string[]) => randomPairFloor(new AngleEmbedder(), answers, 8);
    const one = 'at least 2 different answers, but the tasks have 1';
    await expect(floorOf('5', '5')).rejects.toThrow(one);
    await expect(floorOf('0', '360')).rejects.toThrow('cannot distinguish');
  });
});

describe('The reward answer_similarity', () => {
  const scale = () => new SimilarityScale(new AngleEmbedder(), 0.5);

  test('is the calibrated cosine to the nearest answer', async () => {
    const view = episodeOf({ answer: '90', aliases: ['180'] }, [{ said: '150' }]);
    // 150 is 60 degrees from 90 and 30 from 180: (cos 30 - 0.5) / 0.5.
    const score = await new AnswerSimilarity({ shared: scale() }).score(view);
    expect(score).toBeCloseTo((Math.sqrt(3) / 2 - 0.5) / 0.5, 6);
  });

  test('is 0 without a final message, and does not apply without an answer', async () => {
    const unsaid = episodeOf({ answer: '90' }, [{ calls: [{ tool: 'search' }] }]);
    const reward = new AnswerSimilarity({ shared: scale() });
    expect(await reward.score(unsaid)).toBe(0);
    expect(await reward.score(episodeOf({}, [{ said: '5' }]))).toBeUndefined();
  });

  test('embeds the answer of a task once', async () => {
    const embedder = new AngleEmbedder();
    const shared = new SimilarityScale(embedder, 0);
    for (const said of ['10', '20']) {
      await new AnswerSimilarity({ shared }).score(episodeOf({ answer: '90' }, [{ said }]));
    }
    expect(embedder.asked.toSorted()).toEqual(['10', '20', '90']);
  });

  test('has a measured floor, or the floor of the settings', async () => {
    const host = { environment: {}, tasks: ['red cat', 'red dog', 'red cat'].map(task) };
    const words = { embedder: { type: 'words' }, pairs: 64 } as const;
    // Each holds "red" and a word of its own: the cosine is 1/2.
    const measured = await openSimilarityScale({ ...words, floor: 'measured' }, host);
    expect(measured.report()['floor']).toBeCloseTo(0.5, 6);
    expect((await openSimilarityScale({ ...words, floor: 0.1 }, host)).floor).toBe(0.1);
    const opening = openSimilarityScale({ ...words, floor: 'measured' }, { ...host, tasks: [] });
    await expect(opening).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

test('The word embedder gives the same words in another order the same vector, of length 1', async () => {
  const texts = ['The blue whale', 'whale: blue, the', 'a red fox', '?'];
  const [a, b, c, none] = await wordEmbedder.embed(texts, 'query');
  expect(b).toEqual(a);
  expect(cosine(a as Float32Array, a as Float32Array)).toBeCloseTo(1, 6);
  expect(cosine(a as Float32Array, c as Float32Array)).toBe(0);
  expect(cosine(none as Float32Array, none as Float32Array)).toBe(0);
});
