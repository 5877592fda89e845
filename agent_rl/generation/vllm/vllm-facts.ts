import { isRecord } from '../../core/is-record.ts';
import type { FactsRequest } from '../remote/opening/open-remote.ts';
import {
  type Likeliest,
  logProbKind,
  tokensIn,
  type Writes,
} from '../remote/opening/served-models.ts';
import { wordsOf } from '../remote/remote-server.ts';
import { helloS, unsuited } from '../remote/remote-settings.ts';
import { choiceOf } from '../remote/vllm-fields.ts';
import { generatePath } from './generate-protocol.ts';

const send = (
  { server, model, deadlineS, signal }: FactsRequest,
  tokens: number[],
  sampling: object,
) =>
  server.send(
    {
      method: 'POST',
      path: generatePath,
      body: { model, token_ids: tokens, sampling_params: { max_tokens: 1, ...sampling } },
      deadlineS,
    },
    signal,
  );

/** @throws AgentRlError `CONFIG_INVALID` where the server has another vocabulary or does not take token ids */
export async function requireVocabulary(request: FactsRequest, vocabSize: number): Promise<void> {
  const { url } = request.server;
  // A bias for a token that does not exist is refused with the number of those that do.
  const answer = await send(request, [0], { logit_bias: { [vocabSize]: 1 } });
  const { status } = answer;
  const words = wordsOf(answer);
  if (status === 403 || status === 404)
    throw unsuited(
      url,
      `does not accept token ids (${generatePath} answers ${status}: ${words}). Start vLLM 0.32 or newer with --enable-scale-out.`,
    );
  if (status === 401)
    throw unsuited(
      url,
      'rejected the key. Set generator.apiKeyEnv to the environment variable that holds the right one.',
    );
  const [, size] = /Vocabulary size: (\d+)/.exec(words) ?? [];
  if (status === 400 && Number(size) === vocabSize) return;
  const theirs =
    status === 200
      ? `more than ${vocabSize} tokens`
      : (size ?? `an unknown number of tokens (it answered ${status}: ${words})`);
  throw unsuited(
    url,
    `has a vocabulary of ${theirs}, but the run's model has ${vocabSize} tokens. Serve the run's model.`,
  );
}

export const rendersOf =
  (model: string): Writes =>
  async (messages, ask) => {
    const path = '/v1/chat/completions/render';
    return tokensIn(await ask(path, { model, messages }), path, 'token_ids');
  };

/** What a server says of the likeliest tokens in one place. */
const likeliestOf =
  (request: FactsRequest): Likeliest =>
  async (temperature, prompt) => {
    const { status, json } = await send(request, prompt, { temperature, logprobs: 5, seed: 1 });
    const logprobs = status === 200 ? choiceOf(json)?.['logprobs'] : undefined;
    const content = isRecord(logprobs) ? logprobs['content'] : undefined;
    const first: unknown = Array.isArray(content) ? content[0] : undefined;
    const entries = isRecord(first) ? first['top_logprobs'] : undefined;
    if (!Array.isArray(entries)) return new Map<unknown, number>();
    return new Map(
      entries.filter(isRecord).map(({ token_id, logprob }) => [token_id, Number(logprob)]),
    );
  };

/**
 * Whether log-probabilities belong to the distribution that tokens are drawn from, or are the model's own.
 *
 * @throws AgentRlError `CONFIG_INVALID` when the answers are neither
 */
export async function givesProcessed(request: FactsRequest, vocabSize: number): Promise<boolean> {
  const { kind, ratios } = await logProbKind(likeliestOf(request), vocabSize);
  if (kind !== 'unknown') return kind === 'drawn';
  throw unsuited(
    request.server.url,
    `returns unexpected log-probabilities at temperature 0.5. Their differences, divided by those at temperature 1, are ${ratios.join(', ') || 'missing'}; expected 1 (unmodified model) or 2 (temperature applied). Start it with --logprobs-mode processed_logprobs.`,
  );
}

export interface WeightsOut {
  /** Its name of the weights that it has. */
  weights: string;
  /** Whether a whole model can be loaded into it. */
  takesModels: boolean;
  /** Whether an adapter can be. */
  takesAdapters: boolean;
}

export async function weightsOut({ server, signal }: FactsRequest): Promise<WeightsOut> {
  const get = (path: string) => server.send({ method: 'GET', path, deadlineS: helloS }, signal);
  const [paused, info] = [await get('/is_paused'), await get('/weight_info')];
  const load = '/v1/load_lora_adapter';
  // Nothing is loaded without a name: what counts is whether the path is known.
  const adapters = await server.send(
    { method: 'POST', path: load, body: {}, deadlineS: helloS },
    signal,
  );
  const name = isRecord(info.json) ? info.json['weight_version'] : undefined;
  return {
    weights: typeof name === 'string' ? name : 'default',
    takesModels: paused.status === 200,
    takesAdapters: adapters.status !== 404 && adapters.status !== 405,
  };
}
