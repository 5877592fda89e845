import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import { UnusableAnswer } from '../remote/server-failures.ts';
import type { Drawn, ServerProtocol } from '../remote/server-protocol.ts';

/** The way in which vLLM takes token ids and gives token ids. */
export const generatePath = '/inference/v1/generate';

/** vLLM puts this before the name that a request was given. */
const idPrefix = 'generate-tokens-';

export const generateProtocol: ServerProtocol = {
  path: generatePath,
  healthPath: '/health',
  body: ({ tokens, stopTokens, sampling }, { model, id, seed, maxTokens }) => ({
    model,
    request_id: id,
    token_ids: tokens,
    sampling_params: {
      max_tokens: maxTokens,
      // What ends a turn is among the stop tokens; the model's own end of text is where it is one.
      ignore_eos: true,
      stop_token_ids: stopTokens,
      temperature: sampling.temperature,
      top_k: sampling.topK,
      top_p: sampling.topP,
      min_p: sampling.minP,
      // A model's generation_config.json may ask for others.
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      seed,
      logprobs: 0,
      detokenize: false,
    },
  }),
  drawn(answer) {
    if (!isRecord(answer)) throw unusable(`the answer is ${showValue(answer)}`);
    const { model, usage, choices } = answer;
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    if (!isRecord(choice)) throw unusable(`choices is ${showValue(choices)}`);
    return {
      tokens: choice['token_ids'] as number[],
      logProbs: logProbsOf(choice),
      ended: endOf(choice['finish_reason']),
      model: String(model),
      weights: weightsOf(choice['weight_versions']),
      ...(isRecord(usage) && { contextTokens: Number(usage['prompt_tokens']) }),
    };
  },
  abort: (id) => ({
    path: '/inference/v1/abort_requests',
    body: { request_ids: [`${idPrefix}${id}`] },
  }),
};

/** Of the tokens, in the order of the tokens; each entry says whose it is. */
function logProbsOf({ token_ids: tokens, logprobs }: Readonly<Record<string, unknown>>): number[] {
  const content: unknown = isRecord(logprobs) ? logprobs['content'] : undefined;
  if (!Array.isArray(content)) throw unusable(`logprobs is ${showValue(logprobs)}`);
  return content.map((entry: unknown, place) => {
    const token: unknown = Array.isArray(tokens) ? tokens[place] : undefined;
    if (!isRecord(entry) || entry['token_id'] !== token)
      throw unusable(
        `the log-probability in place ${place} is of ${showValue(entry)}; the token there is ${showValue(token)}`,
      );
    return entry['logprob'] as number;
  });
}

const ends = ['stop', 'length', 'abort'] satisfies Drawn['ended'][];

function endOf(reason: unknown): Drawn['ended'] {
  const end = ends.find((one) => one === reason);
  if (end !== undefined) return end;
  throw unusable(`finish_reason is ${showValue(reason)}; expected one of ${ends.join(', ')}`);
}

/** @throws UnusableAnswer: without them nobody knows what drew the tokens */
function weightsOf(spans: unknown): string[] {
  if (!Array.isArray(spans)) throw unusable(`weight_versions is ${showValue(spans)}`);
  return spans.map((span: unknown) => String(isRecord(span) ? span['version'] : span));
}

const unusable = (problem: string): UnusableAnswer =>
  new UnusableAnswer(`What vLLM answered is no generation: ${problem}.`);
