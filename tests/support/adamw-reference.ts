import type { AdamwScalars, AdamwState } from '#agent_rl/algorithms/adamw.ts';

const at = (values: readonly number[], i: number): number => values[i] ?? Number.NaN;

/** `adamwStep` on plain numbers: the oracle of the tensor form. */
export function adamwStepReference(
  { param, m, v }: AdamwState<readonly number[]>,
  gradient: readonly number[],
  scalars: AdamwScalars<number>,
): AdamwState<number[]> {
  const {
    learningRate,
    beta1,
    beta2,
    eps,
    weightDecay,
    clipScale: scale,
    correction1,
    correction2,
  } = scalars;
  const g = gradient.map((value) => value * scale);
  const nextM = m.map((value, i) => beta1 * value + (1 - beta1) * at(g, i));
  const nextV = v.map((value, i) => beta2 * value + (1 - beta2) * at(g, i) ** 2);
  const next = param.map((value, i) => {
    const denominator = Math.sqrt(at(nextV, i) / correction2) + eps;
    return (
      value * (1 - learningRate * weightDecay) -
      (learningRate * at(nextM, i)) / correction1 / denominator
    );
  });
  return { param: next, m: nextM, v: nextV };
}
