import { randomUUID } from 'node:crypto';

import { AgentRlError } from '../../core/errors.ts';
import type { TopScores } from '../../core/services/learner.ts';
import { noScores } from '../../core/services/scorer.ts';
import { showValue } from '../../core/show-value.ts';
import { requireAsked } from './ask-for-tokens.ts';
import type { RemoteServer } from './remote-server.ts';
import { OtherWeights, UnusableAnswer } from './server-failures.ts';
import type { Scored, ScoringWay } from './server-protocol.ts';

interface AskedScores {
  /** Of the whole sequence. */
  length: number;
  /** Those up to the last place that is wanted; what follows is not sent. */
  tokens: readonly number[];
  /** Where log-probabilities are wanted. */
  places: readonly number[];
}

export function askedOf(all: Int32Array, wanted?: ArrayLike<number>): AskedScores {
  const places = [...all.keys()].filter((at) => at > 0 && (wanted === undefined || wanted[at]));
  return { length: all.length, tokens: [...all.subarray(0, 1 + (places.at(-1) ?? -1))], places };
}

/**
 * Asks one server once for the log-probabilities of given tokens, and checks what it answers.
 *
 * @throws as `askForTokens`; AgentRlError `CONFIG_INVALID` also where it does not score
 */
export async function askForScores(
  server: RemoteServer,
  asked: AskedScores,
  options: {
    way: ScoringWay | undefined;
    topK: number;
    version: number | undefined;
    deadlineS: number;
  },
  signal: AbortSignal,
): Promise<TopScores> {
  const { way, topK, version, deadlineS } = options;
  const { tokens } = asked;
  const model = server.modelOf(version);
  // Each listed token with its text and its rank.
  const mostAnswerBytes = 2 ** 20 + 2 ** 9 * (topK + 2) * tokens.length;
  const refused = (why = '') =>
    new AgentRlError(
      'CONFIG_INVALID',
      `generator.urls: ${server.url} does not score given tokens. ${why}Use a server that gives log-probabilities of a prompt, such as vLLM (of up to --max-logprobs likeliest tokens), or a model in a folder.`,
    );
  if (way === undefined) throw refused();
  const { path } = way;
  const body = way.body(tokens, { model, id: randomUUID(), topK });
  const answer = await server.send(
    { method: 'POST', path, body, deadlineS, mostAnswerBytes },
    signal,
  );
  // It does not have the model or adapter, as after a new start.
  if (answer.status === 404) throw new OtherWeights(server.said(path, answer));
  if (answer.status === 400 || answer.status === 422)
    throw refused(`${server.said(path, answer)} `);
  const scored = way.scored(server.accepted(path, answer), tokens);
  if (scored === undefined) throw refused(`${path} gave none for the prompt. `);
  requireAsked(scored, tokens, { model, server });
  return scoresOf(scored, asked, { topK, url: server.url });
}

/** @throws UnusableAnswer where one is missing or no log-probability */
function scoresOf(
  { places: listed }: Scored,
  { length, tokens, places }: AskedScores,
  { topK, url }: { topK: number; url: string },
): TopScores {
  const { logProbs, top } = noScores(length, topK);
  for (const place of places) {
    const known = listed[place] ?? new Map<number, unknown>();
    const logProbOf = (token: number): number => {
      const value = known.get(token);
      if (typeof value === 'number' && value <= 1e-3) return value;
      const what = `${url}: the log-probability of token ${token} at position ${place}`;
      throw new UnusableAnswer(`${what} is ${showValue(value)}.`);
    };
    logProbs[place] = logProbOf(tokens[place]!);
    // The token itself is listed too, whatever its rank.
    const ranked = [...known.keys()].toSorted((a, b) => logProbOf(b) - logProbOf(a));
    if (ranked.length < topK)
      throw new UnusableAnswer(
        `${url}: it lists ${ranked.length} of the ${topK} likeliest tokens at position ${place}.`,
      );
    const ids = ranked.slice(0, topK);
    top.ids.set(ids, place * topK);
    top.logProbs.set(ids.map(logProbOf), place * topK);
  }
  return { logProbs, top };
}
