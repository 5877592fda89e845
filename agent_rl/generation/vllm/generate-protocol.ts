import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import { UnusableAnswer } from '../remote/server-failures.ts';
import type { Drawn, ScoringWay, ServerProtocol } from '../remote/server-protocol.ts';
import { choiceOf, finishReason, promptPlaces, samplingFields } from '../remote/vllm-fields.ts';

/** The way in which vLLM takes token ids and gives token ids. */
export const generatePath = '/inference/v1/generate';

/** vLLM puts this before the name that a request was given. */
const idPrefix = 'generate-tokens-';

/** `prompt_logprobs` are of the model itself, whatever the temperature and `--logprobs-mode` are. */
const scoring: ScoringWay = {
  path: generatePath,
  body: (tokens, { model, id, topK }) => ({
    model,
    request_id: id,
    token_ids: tokens,
    sampling_params: { max_tokens: 1, prompt_logprobs: topK, detokenize: false },
  }),
  scored(answer) {
    const places = promptPlaces(isRecord(answer) ? answer['prompt_logprobs'] : undefined);
    return places && { ...saidIn(answer), places };
  },
};

export const generateProtocol: ServerProtocol = {
  path: generatePath,
  healthPath: '/health',
  body: (request, asked) => ({
    model: asked.model,
    request_id: asked.id,
    token_ids: request.tokens,
    sampling_params: {
      ...samplingFields(request, asked),
      logprobs: 0,
      detokenize: false,
    },
  }),
  drawn(answer) {
    if (!isRecord(answer)) throw unusable(`the answer is ${showValue(answer)}`);
    const { choices } = answer;
    const choice = choiceOf(answer);
    if (choice === undefined) throw unusable(`choices is ${showValue(choices)}`);
    return {
      tokens: choice['token_ids'] as number[],
      logProbs: logProbsOf(choice),
      ended: finishReason(choice['finish_reason'], unusable),
      ...saidIn(answer),
    };
  },
  scoring,
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
        `the log-probability at position ${place} belongs to ${showValue(entry)}, but the token there is ${showValue(token)}`,
      );
    return entry['logprob'] as number;
  });
}

/** Which model and weights answered, and to how many tokens. @throws UnusableAnswer */
function saidIn(answer: unknown): Pick<Drawn, 'model' | 'weights' | 'contextTokens'> {
  const { model, usage } = answer as Readonly<Record<string, unknown>>;
  return {
    model: String(model),
    weights: weightsOf(choiceOf(answer)?.['weight_versions']),
    contextTokens: isRecord(usage) ? Number(usage['prompt_tokens']) : undefined,
  };
}

/** @throws UnusableAnswer: without them it is unknown which weights drew the tokens */
function weightsOf(spans: unknown): string[] {
  if (!Array.isArray(spans)) throw unusable(`weight_versions is ${showValue(spans)}`);
  return spans.map((span: unknown) => String(isRecord(span) ? span['version'] : span));
}

const unusable = (problem: string): UnusableAnswer =>
  new UnusableAnswer(`vLLM returned an invalid generation: ${problem}.`);
