import { describe, expect, test } from '@jest/globals';

import { inFusedOrder, weightedFusion } from '#agent_rl/search/corpus/corpus-backend.ts';
import { openTaskDocuments } from '#agent_rl/search/corpus/index.ts';
import { letterEmbedder } from '#tests/support/letter-embedder.ts';

const start = 0;
const row = (n: number, score: number) => ({ rowId: BigInt(n), documentId: `d${n}`, start, score });

const text = [row(3, 12), row(4, 6), row(1, 2)];
const lists = { dense: [row(1, 0.9), row(2, 0.8), row(3, 0.5)], text };

describe('The weighted fusion', () => {
  test('adds weight / rank for ranks, like the retriever with 0.8 and 0.2', () => {
    const fused = weightedFusion(lists, { denseWeight: 0.8, textWeight: 0.2 });
    expect([...fused].map(([id, score]) => [Number(id), Number(score.toFixed(6))])).toEqual([
      [1, 0.866667], // 0.8 / 1 + 0.2 / 3
      [2, 0.4], // 0.8 / 2
      [3, 0.466667], // 0.8 / 3 + 0.2 / 1
      [4, 0.1], // 0.2 / 2
    ]);
    const order = inFusedOrder(lists, fused).map(({ documentId }) => documentId);
    expect(order).toEqual(['d1', 'd3', 'd2', 'd4']);
  });

  test('scales the scores of each list to [0, 1] first', () => {
    const fused = weightedFusion(lists, { denseWeight: 0.5, textWeight: 0.5, of: 'scores' });
    expect([...fused].map(([id, score]) => [Number(id), Number(score.toFixed(6))])).toEqual([
      [1, 0.5], // (0.9 - 0.5) / 0.4 is 1, (2 - 2) / 10 is 0
      [2, 0.375], // (0.8 - 0.5) / 0.4 is 0.75
      [3, 0.5], // 0 and (12 - 2) / 10 = 1
      [4, 0.2], // (6 - 2) / 10 is 0.4
    ]);
    // d1 and d3 tie: the name decides.
    const order = inFusedOrder(lists, fused).map(({ documentId }) => documentId);
    expect(order).toEqual(['d1', 'd3', 'd2', 'd4']);
  });

  test('gives every row of a list of equal scores its whole weight', () => {
    const equal = { dense: [row(1, 0.5), row(2, 0.5)], text: [] };
    const fused = weightedFusion(equal, { denseWeight: 2, textWeight: 1, of: 'scores' });
    expect([...fused.values()]).toEqual([2, 2]);
  });
});

describe('A search by words and vectors', () => {
  // By letters, "abab" is nearest to d1, then d2, then d3. By words, only d3 and d2 hold one.
  const documents = [
    { id: 'd1', title: '', text: 'aabb' },
    { id: 'd2', title: '', text: 'aab ccc zebra zebra' },
    { id: 'd3', title: '', text: 'dd zebra abab' },
  ];

  const found = async (query: string, fusion: object) => {
    const embedder = letterEmbedder();
    const backend = await openTaskDocuments(documents, { fusion: fusion as never }, { embedder });
    const hits = await backend.search({ query, topK: 3 });
    await backend.close();
    return hits.map(({ documentId, score }) => [documentId, Number(score.toFixed(6))]);
  };

  test('adds 1 / (k + rank) over the lists', async () => {
    // Vectors: a 2, b 2 of abab. d1 is (2,2,0,0); d2 has a 4, b 3, c 3; d3 has a 3, b 3, d 2.
    // Cosines: d1 8 / 8 = 1; d3 12 / sqrt(8 x 22) = 0.905; d2 14 / sqrt(8 x 34) = 0.849.
    // Words: d3 alone holds "abab". Ranks from 0: d1 1/60; d3 1/61 + 1/60; d2 1/62.
    expect(await found('abab', { type: 'reciprocal_rank', k: 60 })).toEqual([
      ['d3', 0.03306],
      ['d1', 0.016667],
      ['d2', 0.016129],
    ]);
  });

  test('applies the configured weights', async () => {
    expect(await found('abab', { type: 'weighted', denseWeight: 0.8, textWeight: 0.2 })).toEqual([
      ['d1', 0.8], // 0.8 / 1
      ['d3', 0.6], // 0.8 / 2 + 0.2 / 1
      ['d2', 0.266667], // 0.8 / 3
    ]);
  });
});
