import { isRecord } from '../../../core/is-record.ts';
import type { RemoteServer } from '../remote-server.ts';
import { helloS, unsuited } from '../remote-settings.ts';
import type { GeneratorHost } from '../../../core/plugins/model/generator.ts';
import { showValue } from '../../../core/show-value.ts';
import type { HttpAnswer } from '../../../http/http-client.ts';
import { openLanguageModelFolder } from '../../../../model/text/language-model.ts';
import { KeyedRng } from '../../../core/keyed-rng.ts';
import { type Sampling, truncates } from '../../../core/services/generator.ts';

export interface ServedModel {
  id: string;
  /** Longest context plus generation, in tokens; absent where the server does not say. */
  maxContextTokens?: number | undefined;
  /** Number of its tokens; absent where the server does not say. */
  vocabSize?: number | undefined;
}

/** The model of a server that a run means. @throws AgentRlError `CONFIG_INVALID` that lists those it has */
export async function servedModel(
  server: RemoteServer,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<ServedModel> {
  const request = { method: 'GET', path: '/v1/models', deadlineS: helloS } as const;
  const answer = await server.ask(request, signal);
  const data = isRecord(answer) ? answer['data'] : undefined;
  const models = Array.isArray(data) ? data.filter(isRecord) : [];
  // Adapters name the model that they are over.
  const own = models.filter(({ parent }) => parent === undefined || parent === null);
  const found =
    wanted === undefined
      ? own.length === 1
        ? own[0]
        : undefined
      : models.find(({ id }) => id === wanted);
  if (found === undefined) {
    const names = models.map(({ id }) => JSON.stringify(id)).join(', ') || 'none';
    throw unsuited(
      server.url,
      wanted === undefined
        ? `serves the models ${names}. Set generator.model to the run's model.`
        : `does not serve the model ${JSON.stringify(wanted)} (generator.model); it has ${names}. Use one of these, or start it with --served-model-name ${wanted}.`,
    );
  }
  // llama.cpp's server says such things in `meta`.
  const meta = isRecord(found['meta']) ? found['meta'] : {};
  const length = found['max_model_len'] ?? meta['n_ctx'];
  const vocabSize = meta['n_vocab'];
  return {
    id: String(found['id']),
    maxContextTokens: typeof length === 'number' ? length : undefined,
    vocabSize: typeof vocabSize === 'number' ? vocabSize : undefined,
  };
}

const said = [
  { role: 'system', content: 'You add numbers.' },
  { role: 'user', content: 'What is 2 + 40?' },
] as const;

type Ask = (path: string, body: object) => Promise<HttpAnswer>;

/** How a kind of server writes messages as tokens, ready for an answer; a text says what it answers where it does not. */
export type Writes = (messages: typeof said, ask: Ask) => Promise<readonly unknown[] | string>;

/** The tokens that an answer has under a name. */
export const tokensIn = ({ status, json }: HttpAnswer, path: string, name: string) => {
  const tokens: unknown = status === 200 && isRecord(json) ? json[name] : undefined;
  return Array.isArray(tokens) ? (tokens as unknown[]) : `${path} answers ${status}`;
};

/**
 * Compares how a server and the run write a short conversation as tokens. The run sends tokens and not messages; a difference says
 * that the server has another model's tokenizer or template.
 *
 * @throws AgentRlError `CONFIG_INVALID` that names the first token that differs
 */
export async function requireTemplate(
  server: RemoteServer,
  writes: Writes,
  { textFolder, warn, signal }: Pick<GeneratorHost, 'textFolder' | 'warn' | 'signal'>,
): Promise<void> {
  const theirs = await writes(said, (path, body) =>
    server.send({ method: 'POST', path, body, deadlineS: helloS }, signal),
  );
  if (typeof theirs === 'string') {
    warn(
      `${server.url} does not show how it tokenizes conversations (${theirs}), so the run cannot check that the server uses the tokenizer and chat template of the run's model.`,
    );
    return;
  }
  const text = await openLanguageModelFolder(textFolder);
  const pieces = text.encodePieces(text.template.promptPieces(said, [], {}));
  const ours = pieces.flatMap(({ tokens }) => tokens);
  const at = ours.findIndex((token, place) => token !== theirs[place]);
  if (at < 0 && ours.length === theirs.length) return;
  const place = at < 0 ? ours.length : at;
  throw unsuited(
    server.url,
    `does not use the tokenizer or chat template of the run's model in ${textFolder}: token ${place} of a test conversation is ${shown(theirs[place])} on the server and ${shown(ours[place])} in the run (of ${theirs.length} and ${ours.length} tokens). Serve the run's model. If the server already does, start it with --chat-template and the template in the model's folder.`,
  );
}

const shown = (token: unknown): string => (token === undefined ? 'absent' : showValue(token));

/** Log-probabilities of the likeliest tokens behind a prompt, in nats, as a server gives them at a temperature. */
export type Likeliest = (
  temperature: number,
  prompt: number[],
) => Promise<ReadonlyMap<unknown, number>>;

export interface LogProbKind {
  /** `drawn`: of the distribution that tokens are drawn from. `model`: the model's own, whatever the temperature is. */
  kind: 'drawn' | 'model' | 'unknown';
  /** Where it is unknown: how far apart two tokens are at temperature 0.5, by how far they are at 1. */
  ratios: readonly string[];
}

const prompts = 4;
/** Nats between two tokens that show the temperature well. */
const apart = 0.05;
const nearly = 0.1;

/** Whether a server's log-probabilities follow the temperature: two tokens are twice as far apart at 0.5 as at 1, or equally far. */
export async function logProbKind(likeliest: Likeliest, vocabSize: number): Promise<LogProbKind> {
  const ratios: string[] = [];
  for (let index = 0; index < prompts; index++) {
    const prompt = [...new KeyedRng('temperature', index).integers(8, vocabSize)];
    const [cold, usual] = [await likeliest(0.5, prompt), await likeliest(1, prompt)];
    const shared = [...usual.keys()].filter((token) => cold.has(token));
    const gap = (of: ReadonlyMap<unknown, number>): number =>
      (of.get(shared[0]) ?? Number.NaN) - (of.get(shared.at(-1)) ?? Number.NaN);
    if (!(Math.abs(gap(usual)) > apart)) continue;
    const ratio = gap(cold) / gap(usual);
    if (Math.abs(ratio - 1) < nearly) return { kind: 'model', ratios };
    if (Math.abs(ratio - 2) < nearly) return { kind: 'drawn', ratios };
    ratios.push(ratio.toFixed(3));
  }
  return { kind: 'unknown', ratios };
}

/** Whether the model's own log-probabilities are what such sampling is recorded with. */
export const isPlain = (sampling: Sampling): boolean =>
  (sampling.temperature === 0 || sampling.temperature === 1) && !truncates(sampling);

/** Why a run cannot sample so on servers that give the model's own log-probabilities, or undefined. */
export const notPlainProblem = (
  sampling: Sampling,
  { gives, advice }: { gives: string; advice: string },
): string | undefined =>
  isPlain(sampling)
    ? undefined
    : `The run samples with temperature ${sampling.temperature}, topK ${sampling.topK}, topP ${sampling.topP} and minP ${sampling.minP}, but the server returns ${gives}. ${advice}, or sample at temperature 1 without truncation (policy.sampling, eval.temperature).`;
