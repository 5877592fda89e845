import { byScore, type Ranked } from './passage-table.ts';
import type { FusionSettings } from './settings.ts';
import { largest, smallest } from '../../core/long-lists.ts';

type WeightedFusion = Extract<FusionSettings, { type: 'weighted' }>;

/** Two lists of the same passages, each best first. */
export interface TwoLists {
  dense: readonly Ranked[];
  text: readonly Ranked[];
}

/** A list's scores brought to [0, 1], the worst of it 0 and the best 1; 1 for all when they are equal. */
function scaledScores(list: readonly Ranked[]): number[] {
  const scores = list.map(({ score }) => score);
  const low = smallest(scores);
  const width = largest(scores) - low;
  return scores.map((score) => (width > 0 ? (score - low) / width : 1));
}

const reciprocalRanks = (list: readonly Ranked[]): number[] =>
  list.map((_, rank) => 1 / (rank + 1));

/**
 * Weighted sum over both lists: of 1 / rank, the best of a list having rank 1, or of scores brought to [0, 1].
 * What a list does not hold gets nothing from it.
 */
export function weightedFusion(
  { dense, text }: TwoLists,
  { denseWeight, textWeight, of = 'ranks' }: Omit<WeightedFusion, 'type'>,
): ReadonlyMap<bigint, number> {
  const parts = of === 'ranks' ? reciprocalRanks : scaledScores;
  const sums = new Map<bigint, number>();
  for (const [list, weight] of [
    [dense, denseWeight],
    [text, textWeight],
  ] as const) {
    for (const [index, value] of parts(list).entries()) {
      const { rowId } = list[index] as Ranked;
      sums.set(rowId, (sums.get(rowId) ?? 0) + weight * value);
    }
  }
  return sums;
}

/** Everything in either list with its fused score, best first; ties by document. */
export function inFusedOrder(
  { dense, text }: TwoLists,
  fused: ReadonlyMap<bigint, number>,
): readonly Ranked[] {
  const rows = new Map([...text, ...dense].map((row) => [row.rowId, row]));
  return [...rows.values()]
    .map((row) => Object.assign({}, row, { score: fused.get(row.rowId) ?? 0 }))
    .toSorted(byScore);
}
