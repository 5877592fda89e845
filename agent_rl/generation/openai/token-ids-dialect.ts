import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import { UnusableAnswer } from '../remote/server-failures.ts';
import { tokensIn } from '../remote/opening/served-models.ts';
import { choiceOf, finishReason, samplingFields } from '../remote/vllm-fields.ts';
import { type Dialect, upToTheStop } from './dialect.ts';

export const completionsPath = '/v1/completions';

/** What stands before the id of a token that is asked for as a text. */
const idPrefix = 'token_id:';

/** As vLLM has it: `token_ids` beside the log-probabilities of `/v1/completions`. */
export const tokenIdsDialect: Dialect = {
  name: 'vLLM',
  shows: (choice) => Array.isArray(choice['token_ids']) && Array.isArray(logProbsOf(choice)),
  protocol: ({ onPassed }) => ({
    path: completionsPath,
    // What any server of the API has.
    healthPath: '/v1/models',
    body: (request, asked) => ({
      model: asked.model,
      prompt: request.tokens,
      ...samplingFields(request, asked),
      logprobs: 1,
      return_token_ids: true,
      return_tokens_as_token_ids: true,
    }),
    drawn(answer, request) {
      const choice = choiceOf(answer);
      if (choice === undefined) throw unusable(`it is ${showValue(answer)}`);
      const { token_ids: tokens, finish_reason: reason } = choice;
      const logProbs = logProbsOf(choice);
      if (!Array.isArray(tokens) || !Array.isArray(logProbs))
        throw unusable(
          `token_ids is ${showValue(tokens)} and logprobs is ${showValue(choice['logprobs'])}`,
        );
      requirePairs(tokens, logProbs, choice);
      const { model, usage } = answer as Readonly<Record<string, unknown>>;
      return {
        ...upToTheStop(
          { tokens, logProbs, ended: finishReason(reason, unusable) },
          request,
          onPassed,
        ),
        model: typeof model === 'string' ? model : undefined,
        contextTokens: isRecord(usage) ? Number(usage['prompt_tokens']) : undefined,
      };
    },
  }),
  several: { logprobs: 5 },
  likeliest(answer) {
    const top = inLogProbs(choiceOf(answer) ?? {}, 'top_logprobs');
    const first: unknown = Array.isArray(top) ? top[0] : undefined;
    const entries = Object.entries(isRecord(first) ? first : {});
    return new Map(entries.map(([token, logProb]) => [token, Number(logProb)]));
  },
  writes: (model) => async (messages, ask) => {
    const path = '/tokenize';
    const body = { model, messages, add_generation_prompt: true };
    return tokensIn(await ask(path, body), path, 'tokens');
  },
};

const inLogProbs = ({ logprobs }: Readonly<Record<string, unknown>>, name: string): unknown =>
  isRecord(logprobs) ? logprobs[name] : undefined;
const logProbsOf = (choice: Readonly<Record<string, unknown>>): unknown =>
  inLogProbs(choice, 'token_logprobs');

/** @throws UnusableAnswer where log-probabilities are of other tokens, as far as the server says whose they are */
function requirePairs(
  tokens: readonly unknown[],
  logProbs: readonly unknown[],
  choice: Readonly<Record<string, unknown>>,
): void {
  if (tokens.length !== logProbs.length)
    throw unusable(`it has ${tokens.length} ids but ${logProbs.length} log-probabilities`);
  const given = inLogProbs(choice, 'tokens');
  const names: readonly unknown[] = Array.isArray(given) ? given : [];
  for (const [place, name] of names.entries())
    if (
      typeof name === 'string' &&
      name.startsWith(idPrefix) &&
      Number(name.slice(idPrefix.length)) !== tokens[place]
    )
      throw unusable(
        `the log-probability at position ${place} belongs to ${showValue(name)}, but the token there is ${showValue(tokens[place])}`,
      );
}

const unusable = (problem: string): UnusableAnswer =>
  new UnusableAnswer(`The server returned an invalid generation: ${problem}.`);
