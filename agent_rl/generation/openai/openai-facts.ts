import { isRecord } from '../../core/is-record.ts';
import type { GeneratorHost } from '../../core/plugins/model/generator.ts';
import { unbiased } from '../../core/services/generator.ts';
import { showValue } from '../../core/show-value.ts';
import type { HttpAnswer } from '../../http/http-client.ts';
import { visibleControls } from '../../telemetry/index.ts';
import type { FactsRequest } from '../remote/opening/open-remote.ts';
import { logProbKind, type LogProbKind } from '../remote/opening/served-models.ts';
import { type RemoteServer, wordsOf } from '../remote/remote-server.ts';
import { helloS, unsuited } from '../remote/remote-settings.ts';
import { choiceOf } from '../remote/vllm-fields.ts';
import type { Dialect } from './dialect.ts';
import { llamaCppDialect } from './llama-cpp-dialect.ts';
import { completionsPath, tokenIdsDialect } from './token-ids-dialect.ts';

const dialects: readonly Dialect[] = [tokenIdsDialect, llamaCppDialect];

const send = (
  { server, model, deadlineS, signal }: FactsRequest,
  body: object,
): Promise<HttpAnswer> => {
  const one = { model, prompt: [0], max_tokens: 1, temperature: 1, seed: 1, logprobs: 1 };
  return server.send(
    { method: 'POST', path: completionsPath, body: { ...one, ...body }, deadlineS },
    signal,
  );
};

/**
 * Asks for a few tokens in the ways of all kinds of servers.
 *
 * @throws AgentRlError `CONFIG_INVALID` that says what the server lacks, what it was asked for and what it answered
 */
export async function dialectOf(request: FactsRequest): Promise<Dialect> {
  const { server, model } = request;
  const { url } = server;
  // One token may be half a character, of which llama.cpp says nothing.
  const answer = await send(request, { max_tokens: 4, return_token_ids: true });
  const { status, json, text } = answer;
  if (status === 404)
    throw unsuited(
      url,
      `has no ${completionsPath} (it answered 404: ${wordsOf(answer)}). ${suited}`,
    );
  const choice = choiceOf(server.accepted(completionsPath, answer));
  const question = `Asked for four tokens after the prompt [0] with logprobs: 1 and return_token_ids: true, it answered ${visibleControls(showValue(json ?? text, 300))}.`;
  if (choice === undefined) throw unsuited(url, `returns no completions. ${question} ${suited}`);
  const dialect = dialects.find((one) => one.shows(choice));
  if (dialect === undefined) {
    const hasLogProbs = choice['logprobs'] !== undefined && choice['logprobs'] !== null;
    const lacks = hasLogProbs
      ? 'ids of the sampled tokens'
      : 'log-probabilities of the sampled tokens';
    throw unsuited(url, `returns no ${lacks}. ${question} ${suited}`);
  }
  const named = (json as Readonly<Record<string, unknown>>)['model'];
  if (typeof named === 'string' && named !== model)
    throw unsuited(
      url,
      `names the model ${showValue(named)} in its answer, but the run requested ${showValue(model)}. Set generator.model to the name in the answer.`,
    );
  return dialect;
}

const suited =
  'Servers that return token ids and log-probabilities are, for example, vLLM, the llama.cpp server and agent-rl serve.';

/**
 * @param said what the server says of itself, where it does
 * @throws AgentRlError `CONFIG_INVALID` where the server is known to have another number of tokens
 */
export async function requireVocabulary(
  request: FactsRequest,
  said: number | undefined,
  { vocabSize, warn }: Pick<GeneratorHost, 'vocabSize' | 'warn'>,
): Promise<void> {
  // vLLM refuses a bias for a token that does not exist, with the number of those that do.
  const refused = await send(request, { logit_bias: { [vocabSize]: 1 } });
  const [, size] = /Vocabulary size: (\d+)/.exec(wordsOf(refused)) ?? [];
  const theirs = said ?? (size === undefined ? undefined : Number(size));
  if (theirs === undefined)
    warn(
      `${request.server.url} does not report its vocabulary size, so the run cannot compare it with that of the run's model.`,
    );
  if (theirs === undefined || theirs === vocabSize) return;
  throw unsuited(
    request.server.url,
    `has a vocabulary of ${theirs} tokens, but the run's model has ${vocabSize}. Serve the run's model.`,
  );
}

/** Whether a server returns log-probabilities of the model or of the distribution it draws from; unknown also where it does not list the likeliest tokens. */
export async function logProbKindOf(
  { server, model, deadlineS, signal }: FactsRequest,
  dialect: Dialect,
  vocabSize: number,
): Promise<LogProbKind['kind']> {
  const protocol = dialect.protocol({ vocabSize, onPassed: () => undefined });
  const { kind } = await logProbKind(async (temperature, prompt) => {
    // As it is asked for tokens at that temperature.
    const sampling = { ...unbiased, temperature };
    const one = { model, id: 'likeliest', seed: 1, maxTokens: 1 };
    const key = { seed: 1, taskId: 'likeliest', sample: 0, turn: 0 };
    const request = { episode: 'likeliest', tokens: prompt, stopTokens: [], sampling, key };
    const asked = { ...protocol.body(request, one), ...dialect.several };
    const { status, json } = await server.send(
      { method: 'POST', path: protocol.path, body: asked, deadlineS },
      signal,
    );
    return status === 200 ? dialect.likeliest(json) : new Map<unknown, number>();
  }, vocabSize);
  return kind;
}

/** @throws AgentRlError `CONFIG_INVALID`: the API has no way to give a server weights */
export async function refuseTraining(server: RemoteServer, signal: AbortSignal): Promise<never> {
  const request = { method: 'GET', path: '/version', deadlineS: helloS } as const;
  const { status, json } = await server.send(request, signal);
  const version = status === 200 && isRecord(json) ? json['version'] : undefined;
  const instead =
    typeof version === 'string'
      ? `It reports version ${visibleControls(showValue(version))}, as vLLM does. If it is vLLM, use generator.type vllm, which can send weights to it.`
      : 'Train with generator.type engine, served or vllm; use generator.type openai for evaluations (agent-rl eval).';
  throw unsuited(
    server.url,
    `cannot receive weights over the OpenAI API, which training needs. ${instead}`,
  );
}
