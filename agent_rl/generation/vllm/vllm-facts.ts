import { isRecord } from '../../core/is-record.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import { type RemoteServer, wordsOf } from '../remote/remote-server.ts';
import { helloS, unsuited } from '../remote/remote-settings.ts';
import { generatePath } from './generate-protocol.ts';

export interface FactsRequest {
  server: RemoteServer;
  /** The server's name of the model. */
  model: string;
  /** Seconds for each answer; the first takes long where the server compiles. */
  deadlineS: number;
  signal: AbortSignal;
}

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
      `does not take token ids (${generatePath} answers ${status}: ${words}). Start vLLM 0.32 or newer with --enable-scale-out.`,
    );
  if (status === 401)
    throw unsuited(
      url,
      'wants another key. Name the variable that holds it in generator.apiKeyEnv.',
    );
  const [, size] = /Vocabulary size: (\d+)/.exec(words) ?? [];
  if (status === 400 && Number(size) === vocabSize) return;
  const theirs =
    status === 200
      ? `more than ${vocabSize} tokens`
      : (size ?? `a number of tokens that it does not tell (it answered ${status}: ${words})`);
  throw unsuited(
    url,
    `has a vocabulary of ${theirs}, and the run's model one of ${vocabSize} tokens. Serve the run's model.`,
  );
}

/** What a server says of the likeliest tokens in one place. */
async function likeliest(request: FactsRequest, temperature: number, prompt: number[]) {
  const { status, json } = await send(request, prompt, { temperature, logprobs: 5, seed: 1 });
  const choices = status === 200 && isRecord(json) ? json['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const logprobs = isRecord(choice) ? choice['logprobs'] : undefined;
  const content = isRecord(logprobs) ? logprobs['content'] : undefined;
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  const entries = isRecord(first) ? first['top_logprobs'] : undefined;
  if (!Array.isArray(entries)) return new Map<unknown, number>();
  return new Map(
    entries.filter(isRecord).map(({ token_id, logprob }) => [token_id, Number(logprob)]),
  );
}

const prompts = 4;
/** Nats between two tokens that show the temperature well. */
const apart = 0.05;

/**
 * Whether log-probabilities are those of the distribution that tokens are drawn from, or the model's own whatever the
 * temperature is: two tokens are twice as far apart at temperature 0.5, or as far as at 1.
 *
 * @throws AgentRlError `CONFIG_INVALID` when the answers are neither
 */
export async function givesProcessed(request: FactsRequest, vocabSize: number): Promise<boolean> {
  const seen: string[] = [];
  for (let index = 0; index < prompts; index++) {
    const prompt = [...new KeyedRng('temperature', index).integers(8, vocabSize)];
    const [cold, usual] = [
      await likeliest(request, 0.5, prompt),
      await likeliest(request, 1, prompt),
    ];
    const shared = [...usual.keys()].filter((token) => cold.has(token));
    const gap = (of: ReadonlyMap<unknown, number>): number =>
      (of.get(shared[0]) ?? Number.NaN) - (of.get(shared.at(-1)) ?? Number.NaN);
    if (!(Math.abs(gap(usual)) > apart)) continue;
    const ratio = gap(cold) / gap(usual);
    if (Math.abs(ratio - 1) < nearly) return false;
    if (Math.abs(ratio - 2) < nearly) return true;
    seen.push(ratio.toFixed(3));
  }
  throw unsuited(
    request.server.url,
    `gives log-probabilities at temperature 0.5 that are neither the model's own nor those of that temperature (differences of ${seen.join(', ') || 'no'} times those at 1; expected 1 or 2). Start it with --logprobs-mode processed_logprobs.`,
  );
}

const nearly = 0.1;

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
