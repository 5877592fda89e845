import { isRecord } from '../../core/is-record.ts';
import { type Sampling, truncates } from '../../core/services/generator.ts';
import { showValue } from '../../core/show-value.ts';
import { isPlain } from '../remote/opening/log-prob-kind.ts';
import { tokensIn } from '../remote/opening/template-check.ts';
import { UnusableAnswer } from '../remote/server-failures.ts';
import type { Dialect } from './dialect.ts';
import { alignedLogProbs, type Entry, entriesIn, logProbOf } from './llama-cpp-log-probs.ts';
import { missingLogProb } from './missing-log-prob.ts';
import { upToTheStop } from './up-to-the-stop.ts';

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
          `its log-probabilities are of tokens ${showValue(entries.map(({ id }) => id))}, and it drew ${showValue(tokens)}`,
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
      ? `The run samples with topK ${sampling.topK}, topP ${sampling.topP} and minP ${sampling.minP}, which is not drawn with the server of llama.cpp. Leave them out (policy.sampling).`
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
  new UnusableAnswer(`What llama.cpp answered is no generation: ${problem}.`);
