import type { ScoredModel } from '../scored-model.ts';

export interface DrawnBy {
  token: number;
  /** What can be said of its place at a temperature. */
  logProbs: (temperature: number) => {
    own: number;
    likeliest: (count: number) => { token: number; logProb: number }[];
  };
}

/** @param forced what is drawn in every place, whatever the model says */
export function drawnBy(
  model: ScoredModel,
  context: readonly number[],
  {
    temperature,
    most,
    ends,
    seed,
    forced,
  }: { temperature: number; most: number; ends: readonly number[]; seed: number; forced?: number },
): DrawnBy[] {
  const drawn: DrawnBy[] = [];
  const seen = [...context];
  while (drawn.length < most) {
    const token = forced ?? model.draw(seen, { temperature }, seed);
    const before = [...seen];
    drawn.push({
      token,
      logProbs: (at) => {
        const all = model.logProbs(before, at);
        return {
          own: all[token]!,
          likeliest: (count) =>
            [...all.keys()]
              .toSorted((a, b) => all[b]! - all[a]!)
              .slice(0, count)
              .map((one) => ({ token: one, logProb: all[one]! })),
        };
      },
    });
    seen.push(token);
    if (ends.includes(token)) break;
  }
  return drawn;
}
