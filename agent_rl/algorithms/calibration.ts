import { hasNoSpread, mean, sum, wilson95 } from './statistics.ts';

/** A score beside the label it should have been, both from 0 (wrong) to 1 (right). */
export interface LabelledScore {
  label: number;
  score: number;
}

/** How well scores agree with labels. Plain JSON. */
export interface Calibration {
  n: number;
  /** Share of scores on the same side of 1/2 as their labels; 1/2 counts as right. `null` for none. */
  accuracy: number | null;
  /** 95 % interval of it. */
  accuracy95: readonly [low: number, high: number];
  /** The accuracy of always giving the more frequent label: a useful judge exceeds it. */
  majorityAccuracy: number | null;
  /** Pearson's r; `null` where the scores or the labels do not differ. */
  correlation: number | null;
  /** 95 % interval of it; `null` below 4 scores. */
  correlation95: readonly [low: number, high: number] | null;
  /** Mean of score - label: the judge's bias. */
  meanDifference: number | null;
  meanAbsoluteDifference: number | null;
}

const isRight = (value: number): boolean => value >= 0.5;

/** Standard normal quantile of 0.975. */
const z = 1.959963984540054;

/**
 * Compares scores with labels. Intervals: Wilson's of a rate, and Fisher's of a correlation, `tanh(atanh r ± z / sqrt(n -
 * 3))` (Fisher 1921, https://hdl.handle.net/2440/15169), which assumes that both are about normal.
 */
export function calibrationOf(pairs: readonly LabelledScore[]): Calibration {
  const n = pairs.length;
  const agreed = pairs.filter(({ label, score }) => isRight(label) === isRight(score)).length;
  const right = pairs.filter(({ label }) => isRight(label)).length;
  const differences = pairs.map(({ label, score }) => score - label);
  const ofSome = (value: number): number | null => (n === 0 ? null : value);
  const correlation = pearson(pairs);
  return {
    n,
    accuracy: ofSome(agreed / n),
    accuracy95: wilson95(agreed, n),
    majorityAccuracy: ofSome(Math.max(right, n - right) / n),
    correlation,
    correlation95: correlation === null ? null : fisher95(correlation, n),
    meanDifference: ofSome(mean(differences)),
    meanAbsoluteDifference: ofSome(mean(differences.map(Math.abs))),
  };
}

const squares = (values: readonly number[], centre: number): number =>
  sum(values.map((value) => (value - centre) ** 2));

function pearson(pairs: readonly LabelledScore[]): number | null {
  const labels = pairs.map(({ label }) => label);
  const scores = pairs.map(({ score }) => score);
  if (hasNoSpread(labels) || hasNoSpread(scores)) return null;
  const [ofLabels, ofScores] = [mean(labels), mean(scores)];
  const products = pairs.map(({ label, score }) => (label - ofLabels) * (score - ofScores));
  const r = sum(products) / Math.sqrt(squares(labels, ofLabels) * squares(scores, ofScores));
  // Rounding may step over the ends.
  return Math.min(1, Math.max(-1, r));
}

function fisher95(r: number, n: number): [low: number, high: number] | null {
  if (n < 4) return null;
  const half = z / Math.sqrt(n - 3);
  return [Math.tanh(Math.atanh(r) - half), Math.tanh(Math.atanh(r) + half)];
}
