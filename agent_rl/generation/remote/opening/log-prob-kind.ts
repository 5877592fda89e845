import { KeyedRng } from '../../../core/keyed-rng.ts';
import { type Sampling, truncates } from '../../../core/services/generator.ts';

/** Log-probabilities of the likeliest tokens behind a prompt, in nats, as a server gives them at a temperature. */
export type Likeliest = (
  temperature: number,
  prompt: number[],
) => Promise<ReadonlyMap<unknown, number>>;

export interface LogProbKind {
  /** `drawn`: of the distribution that tokens are drawn from. `model`: the model's own, whatever the temperature is. */
  kind: 'drawn' | 'model' | 'unknown';
  /** Where it is unknown: how far apart two tokens are at temperature 0.5, by how far they are at 1. */
  ratios: readonly string[];
}

const prompts = 4;
/** Nats between two tokens that show the temperature well. */
const apart = 0.05;
const nearly = 0.1;

/** Whose a server's log-probabilities are: two tokens are twice as far apart at temperature 0.5, or as far as at 1. */
export async function logProbKind(likeliest: Likeliest, vocabSize: number): Promise<LogProbKind> {
  const ratios: string[] = [];
  for (let index = 0; index < prompts; index++) {
    const prompt = [...new KeyedRng('temperature', index).integers(8, vocabSize)];
    const [cold, usual] = [await likeliest(0.5, prompt), await likeliest(1, prompt)];
    const shared = [...usual.keys()].filter((token) => cold.has(token));
    const gap = (of: ReadonlyMap<unknown, number>): number =>
      (of.get(shared[0]) ?? Number.NaN) - (of.get(shared.at(-1)) ?? Number.NaN);
    if (!(Math.abs(gap(usual)) > apart)) continue;
    const ratio = gap(cold) / gap(usual);
    if (Math.abs(ratio - 1) < nearly) return { kind: 'model', ratios };
    if (Math.abs(ratio - 2) < nearly) return { kind: 'drawn', ratios };
    ratios.push(ratio.toFixed(3));
  }
  return { kind: 'unknown', ratios };
}

/** Whether the model's own log-probabilities are what such sampling is recorded with. */
export const isPlain = (sampling: Sampling): boolean =>
  (sampling.temperature === 0 || sampling.temperature === 1) && !truncates(sampling);

/** Why a run cannot sample so on servers that give the model's own log-probabilities, or undefined. */
export const notPlainProblem = (
  sampling: Sampling,
  { gives, advice }: { gives: string; advice: string },
): string | undefined =>
  isPlain(sampling)
    ? undefined
    : `The run samples with temperature ${sampling.temperature}, topK ${sampling.topK}, topP ${sampling.topP} and minP ${sampling.minP}, and the server gives ${gives}. ${advice}, or sample with temperature 1 and nothing cut (policy.sampling, eval.temperature).`;
