import { isRecord } from '../../core/is-record.ts';
import { type Sampling, truncates } from '../../core/services/generator.ts';
import { showValue } from '../../core/show-value.ts';
import { isPlain, tokensIn } from '../remote/opening/served-models.ts';
import { UnusableAnswer } from '../remote/server-failures.ts';
import { type Dialect, upToTheStop } from './dialect.ts';

const path = '/completion';

/**
 * As the server of llama.cpp has it. Its own route gives all token ids; `/v1/completions` leaves out those that end in the middle
 * of a character. It knows no stop tokens but those that end a text for the model, and `ignore_eos` would forbid these.
 */
export const llamaCppDialect: Dialect = {
  name: 'llama.cpp',
  shows: ({ logprobs }) => entriesIn(logprobs, 'content').length > 0,
  protocol: ({ onPassed, vocabSize }) => ({
    path,
    healthPath: '/health',
    body: ({ tokens, sampling }, { model, seed, maxTokens }) => ({
      model,
      prompt: tokens,
      n_predict: maxTokens,
      temperature: sampling.temperature,
      // Others would have their part in what is drawn.
      samplers: ['temperature'],
      seed,
      n_probs: 1,
      // Probabilities at the temperature, or log-probabilities of the model.
      post_sampling_probs: !isPlain(sampling),
      return_tokens: true,
      response_fields: fields,
    }),
    drawn(answer, request) {
      if (!isRecord(answer)) throw unusable(`it is ${showValue(answer)}`);
      const { tokens, model, tokens_evaluated: contextTokens } = answer;
      if (!Array.isArray(tokens)) throw unusable(`tokens is ${showValue(tokens)}`);
      const entries = entriesIn(answer, 'completion_probabilities');
      const logProbs = alignedLogProbs(tokens as number[], entries);
      if (logProbs === undefined)
        throw unusable(
          `it has log-probabilities for the tokens ${showValue(entries.map(({ id }) => id))}, but its sampled tokens are ${showValue(tokens)}`,
        );
      const drawn = { tokens: tokens as number[], logProbs, ended: endOf(answer['stop_type']) };
      return {
        ...upToTheStop(drawn, request, onPassed),
        model: typeof model === 'string' ? model : undefined,
        contextTokens: contextTokens === undefined ? undefined : Number(contextTokens),
      };
    },
    async filled({ tokens, logProbs, ...drawn }, request, ask) {
      const all: number[] = [];
      for (const [place, logProb] of logProbs.entries()) {
        const before = [...request.tokens, ...tokens.slice(0, place)];
        const token = tokens[place]!;
        const { sampling } = request;
        // Where one cannot be found, the answer is of no use.
        const isMissing = Number.isNaN(logProb) && !all.some(Number.isNaN);
        all.push(
          isMissing ? await missingLogProb({ before, token, sampling, vocabSize, ask }) : logProb,
        );
      }
      return { ...drawn, tokens, logProbs: all };
    },
  }),
  several: { n_probs: 5 },
  likeliest(answer) {
    const [first] = isRecord(answer) ? entriesIn(answer, 'completion_probabilities') : [];
    const top: readonly Entry[] =
      first === undefined
        ? []
        : [...entriesIn(first, 'top_logprobs'), ...entriesIn(first, 'top_probs')];
    return new Map(top.map((entry) => [entry['id'], Number(logProbOf(entry))]));
  },
  samplingProblem: (sampling: Sampling) =>
    truncates(sampling)
      ? `The run samples with topK ${sampling.topK}, topP ${sampling.topP} and minP ${sampling.minP}, which agent_rl does not support with llama.cpp. Remove these settings from policy.sampling.`
      : undefined,
  writes: () => async (messages, ask) => {
    const template = '/apply-template';
    const { status, json } = await ask(template, { messages });
    const content = isRecord(json) ? json['prompt'] : undefined;
    if (status !== 200 || typeof content !== 'string') return `${template} answers ${status}`;
    const asTokens = { content, add_special: true, parse_special: true };
    return tokensIn(await ask('/tokenize', asTokens), '/tokenize', 'tokens');
  },
};

/** What is read of an answer; the rest repeats the request. */
const fields = ['tokens', 'completion_probabilities', 'stop_type', 'tokens_evaluated', 'model'];

function endOf(type: unknown): 'stop' | 'length' {
  if (type === 'eos') return 'stop';
  if (type === 'limit') return 'length';
  throw unusable(`stop_type is ${showValue(type)}; expected eos or limit`);
}

const unusable = (problem: string): UnusableAnswer =>
  new UnusableAnswer(`llama.cpp returned an invalid generation: ${problem}.`);

/** What the server of llama.cpp says of a token in a place. */
type Entry = Readonly<Record<string, unknown>>;

/** The entries that an object has under a name, those that say whose they are. */
function entriesIn(given: unknown, name: string): readonly Entry[] {
  const entries: unknown = isRecord(given) ? given[name] : undefined;
  return Array.isArray(entries)
    ? entries.filter((one): one is Entry => isRecord(one) && 'id' in one)
    : [];
}

/** In nats: of the model, or under what is drawn from where the server was asked for probabilities of that. */
const logProbOf = ({ logprob, prob }: Entry): unknown =>
  typeof prob === 'number' ? Math.log(prob) : logprob;

/**
 * Log-probabilities of tokens, NaN where the server gave no value: the server leaves out tokens after which the text ends in the middle of a
 * character, and does not say which. What could be of one token as well as of another is taken for missing in both places.
 *
 * @returns undefined where entries are of tokens that were not drawn
 */
export function alignedLogProbs(
  tokens: readonly number[],
  entries: readonly Entry[],
): number[] | undefined {
  const first: number[] = [];
  for (const [place, token] of tokens.entries())
    if (entries[first.length]?.['id'] === token) first.push(place);
  if (first.length < entries.length) return undefined;
  const last: number[] = [];
  for (let place = tokens.length - 1; place >= 0; place--)
    if (entries.at(-1 - last.length)?.['id'] === tokens[place]) last.push(place);
  last.reverse();
  const logProbs = tokens.map(() => Number.NaN);
  for (const [i, entry] of entries.entries()) {
    const place = first[i]!;
    if (place === last[i]) logProbs[place] = logProbOf(entry) as number;
  }
  return logProbs;
}

interface MissingLogProb {
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
  // At another temperature the sum is over all tokens.
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
