import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { Sampling } from '#agent_rl/core/services/generator.ts';
import type { Scorer } from '#agent_rl/core/services/scorer.ts';

/**
 * A model that is a number: the log-probabilities of the next token follow from it, the length of the context and its last token.
 * It stands for weights in doubles of servers, and says how a learner with the same weights scores.
 */
export class ScoredModel implements Scorer {
  constructor(
    readonly weights: number,
    readonly vocabSize: number,
  ) {}

  /** Of each token behind the context, in nats, at a temperature. */
  logProbs(context: ArrayLike<number>, temperature: number): number[] {
    const { length } = context;
    const key = new KeyedRng(this.weights, length, context[length - 1] ?? 0).integer(2 ** 31);
    const logits = Array.from(
      { length: this.vocabSize },
      (_, token) => (-2 * Math.log(1 - scattered(key ^ token))) / temperature,
    );
    const sum = Math.log(logits.reduce((total, logit) => total + Math.exp(logit), 0));
    return logits.map((logit) => logit - sum);
  }

  draw(context: ArrayLike<number>, { temperature }: Pick<Sampling, 'temperature'>, seed: number) {
    if (temperature === 0) {
      const logProbs = this.logProbs(context, 1);
      return logProbs.indexOf(Math.max(...logProbs));
    }
    let left = new KeyedRng('draw', seed, context.length).uniform();
    const logProbs = this.logProbs(context, temperature);
    const token = logProbs.findIndex((logProb) => (left -= Math.exp(logProb)) < 0);
    return token < 0 ? this.vocabSize - 1 : token;
  }

  async score(sequences: readonly Int32Array[]): Promise<readonly Float32Array[]> {
    return sequences.map((tokens) =>
      Float32Array.from(tokens, (token, place) =>
        place === 0 ? 0 : this.logProbs(tokens.subarray(0, place), 1)[token]!,
      ),
    );
  }
}

interface Drawing {
  temperature: number;
  most: number;
  ends: readonly number[];
  seed: number;
  /** What is drawn in every place, whatever the model says. */
  forced?: number | undefined;
}

/** Tokens behind a context, and what can be said of the place of each at a temperature. */
export function drawnBy(
  model: ScoredModel,
  context: readonly number[],
  { temperature, most, ends, seed, forced }: Drawing,
) {
  const drawn: { token: number; logProbs: (at: number) => readonly number[] }[] = [];
  const seen = [...context];
  while (drawn.length < most) {
    const token = forced ?? model.draw(seen, { temperature }, seed);
    const before = [...seen];
    drawn.push({ token, logProbs: (at) => model.logProbs(before, at) });
    seen.push(token);
    if (ends.includes(token)) break;
  }
  return drawn;
}

/** What vLLM says of a prompt: in each place its token and the likeliest ones; null where it is not asked. */
export const promptLogProbs = (model: ScoredModel, prompt: readonly number[], count?: number) =>
  count === undefined
    ? null
    : prompt.map((token, place) => {
        if (place === 0) return null;
        const all = model.logProbs(prompt.slice(0, place), 1);
        const listed = [token, ...likeliest(all, count)];
        const rank = (logprob: number) => 1 + all.filter((other) => other > logprob).length;
        return Object.fromEntries(
          listed.map((id) => {
            const logprob = all[id]!;
            return [id, { logprob, rank: rank(logprob), decoded_token: `t${id}` }];
          }),
        );
      });

export const likeliest = (logProbs: readonly number[], count: number): number[] =>
  [...logProbs.keys()].toSorted((a, b) => logProbs[b]! - logProbs[a]!).slice(0, count);

/** In [0, 1): neighbours have nothing in common. */
function scattered(value: number): number {
  const mixed = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39) >>> 8) / 2 ** 24;
}
