import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import { UnusableAnswer } from '../remote/server-failures.ts';
import { tokensIn } from '../remote/opening/served-models.ts';
import { choiceOf, finishReason, samplingFields } from '../remote/vllm-fields.ts';
import type { Drawn, ScoringWay } from '../remote/server-protocol.ts';
import { type Dialect, upToTheStop } from './dialect.ts';

export const completionsPath = '/v1/completions';

/** What stands before the id of a token that is asked for as a text. */
const idPrefix = 'token_id:';

/** As OpenAI had it: the prompt comes back as if it had been drawn. Tokens may be written as texts, of which only the prompt's are known. */
const byEcho: ScoringWay = {
  path: completionsPath,
  body: (prompt, { model, topK }) => {
    const fields = { max_tokens: 0, echo: true, logprobs: topK };
    return { model, prompt, ...fields, return_tokens_as_token_ids: true };
  },
  scored(answer, prompt) {
    const choice = choiceOf(answer) ?? {};
    const [own, names, top] = ['token_logprobs', 'tokens', 'top_logprobs'].map((name) =>
      inLogProbs(choice, name),
    ) as [unknown, unknown[] | undefined, object[] | null | undefined];
    if (!Array.isArray(own) || own.length < prompt.length) return undefined;
    const places = own.map((logProb: unknown, place) => {
      const listed = Object.entries(top?.[place] ?? {}).map(
        ([name, value]) => [idOf(name), value] as const,
      );
      const known = listed.filter(([id]) => id !== undefined) as [number, unknown][];
      return new Map([...known, [idOf(names?.[place]) ?? prompt[place]!, logProb]]);
    });
    return { ...saidIn(answer), places };
  },
};

/** As vLLM has it: `token_ids` beside the log-probabilities of `/v1/completions`. */
export const tokenIdsDialect: Dialect = {
  name: 'vLLM',
  shows: (choice) => Array.isArray(choice['token_ids']) && Array.isArray(logProbsOf(choice)),
  protocol: ({ onPassed }) => ({
    scoring: byEcho,
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
      return {
        ...upToTheStop(
          { tokens, logProbs, ended: finishReason(reason, unusable) },
          request,
          onPassed,
        ),
        ...saidIn(answer),
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

/** The model that answered, and to how many tokens, as far as it says so. */
function saidIn(answer: unknown): Pick<Drawn, 'model' | 'contextTokens'> {
  const { model, usage } = answer as Readonly<Record<string, unknown>>;
  return {
    model: typeof model === 'string' ? model : undefined,
    contextTokens: isRecord(usage) ? Number(usage['prompt_tokens']) : undefined,
  };
}

/** The token that a server names by its id; undefined for other names. */
const idOf = (name: unknown): number | undefined =>
  typeof name === 'string' && name.startsWith(idPrefix)
    ? Number(name.slice(idPrefix.length))
    : undefined;

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
    if ((idOf(name) ?? tokens[place]) !== tokens[place])
      throw unusable(
        `the log-probability at position ${place} belongs to ${showValue(name)}, but the token there is ${showValue(tokens[place])}`,
      );
}

const unusable = (problem: string): UnusableAnswer =>
  new UnusableAnswer(`The server returned an invalid generation: ${problem}.`);
