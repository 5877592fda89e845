import type { Sampling } from '../../core/services/generator.ts';
import { entriesIn, logProbOf } from './llama-cpp-log-probs.ts';

export interface MissingLogProb {
  /** The context of the token. */
  before: readonly number[];
  token: number;
  sampling: Pick<Sampling, 'temperature'>;
  vocabSize: number;
  /** @returns what the server answers to a body */
  ask: (body: object) => Promise<unknown>;
}

/** Where a token that was drawn is found nearly always. */
const likeliest = 100;

/**
 * The log-probability of a token for which the server of llama.cpp gives none, from the list of the likeliest ones. NaN where the
 * server does not say.
 */
export async function missingLogProb({
  before,
  token,
  sampling: { temperature },
  vocabSize,
  ask,
}: MissingLogProb): Promise<number> {
  const isModels = temperature === 0 || temperature === 1;
  // At another temperature the sum goes over all tokens.
  for (const count of isModels ? [likeliest, vocabSize] : [vocabSize]) {
    const listed = await list(before, count, ask);
    const own = listed.get(token);
    if (own === undefined) continue;
    if (isModels) return own;
    const scaled = [...listed.values()].map((logProb) => logProb / temperature);
    return own / temperature - Math.log(scaled.reduce((sum, value) => sum + Math.exp(value), 0));
  }
  return Number.NaN;
}

/** Log-probabilities of the model for the likeliest tokens. */
async function list(
  before: readonly number[],
  count: number,
  ask: MissingLogProb['ask'],
): Promise<ReadonlyMap<unknown, number>> {
  const answer = await ask({
    prompt: before,
    n_predict: 1,
    temperature: 0,
    samplers: ['temperature'],
    n_probs: count,
    post_sampling_probs: false,
    // A whole character, or the list is left out too. What is drawn has no part in the list.
    logit_bias: [[wholeToken, 1000]],
    response_fields: ['completion_probabilities'],
  });
  const [first] = entriesIn(answer, 'completion_probabilities');
  const entries = entriesIn(first, 'top_logprobs');
  return new Map(entries.map((entry) => [entry['id'], Number(logProbOf(entry))]));
}

/** The first token: a control token or an ASCII character in the vocabularies of today. */
const wholeToken = 0;
