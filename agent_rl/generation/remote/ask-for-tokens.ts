import { randomUUID } from 'node:crypto';

import type { GenerationRequest, Generation } from '../../core/services/generator.ts';
import { mostAnswerBytes } from './drawn-in-parts.ts';
import type { RemoteServer } from './remote-server.ts';
import { OtherWeights, AskAgain, UnusableAnswer } from './server-failures.ts';
import { requestSeed } from '../request-seed.ts';
import type { Asked, Drawn, ServerProtocol } from './server-protocol.ts';
import { generationProblem } from '../generation-problem.ts';

export interface AskOptions {
  protocol: ServerProtocol;
  vocabSize: number;
  /** Seconds that the answer may take. */
  deadlineS: number;
}

/**
 * Asks one server once, and checks what it answers.
 *
 * @throws ServerGone, AskAgain, UnusableAnswer, OtherWeights; AgentRlError `CONFIG_INVALID` for what it refuses; the signal's
 * reason
 */
export async function askForTokens(
  server: RemoteServer,
  request: GenerationRequest,
  { protocol, vocabSize, deadlineS }: AskOptions,
  signal?: AbortSignal,
): Promise<Drawn> {
  const { maxTokens, key, version } = request;
  const model = server.modelOf(version);
  const asked: Asked = { model, id: randomUUID(), seed: requestSeed(key), maxTokens };
  const { path } = protocol;
  const body = protocol.body(request, asked);
  const started = performance.now();
  try {
    const limits = { deadlineS, mostAnswerBytes: mostAnswerBytes(request) };
    const answer = await server.send({ method: 'POST', path, body, ...limits }, signal);
    // It does not have the model or adapter, as after a new start.
    if (answer.status === 404) throw new OtherWeights(server.said(path, answer));
    const given = protocol.drawn(server.accepted(path, answer), request);
    const hasAll = given.tokens.length > maxTokens || !given.logProbs.some(Number.isNaN);
    const drawn =
      hasAll || protocol.filled === undefined
        ? given
        : await protocol.filled(given, request, (more) => {
            const leftS = Math.max(1e-3, deadlineS - (performance.now() - started) / 1000);
            return server.ask({ method: 'POST', path, body: more, deadlineS: leftS }, signal);
          });
    checkDrawn(drawn, request, { asked, server, vocabSize });
    return drawn;
  } catch (thrown) {
    if (signal?.aborted === true) tellOfAbort(server, protocol, asked.id);
    throw thrown;
  }
}

/** Not awaited: a server that does not hear of it draws the rest for nothing. */
function tellOfAbort(server: RemoteServer, protocol: ServerProtocol, id: string): void {
  const asked = protocol.abort?.(id);
  if (asked === undefined) return;
  void server.send({ method: 'POST', ...asked, deadlineS: tellS }).catch(() => undefined);
}

const tellS = 10;

/**
 * Holds an answer against what was asked for, before anything is learned from it.
 *
 * @throws UnusableAnswer, OtherWeights; AskAgain when the server gave the request up
 */
function checkDrawn(
  drawn: Drawn,
  { tokens, stopTokens }: Pick<GenerationRequest, 'tokens' | 'stopTokens'>,
  { asked, server, vocabSize }: { asked: Asked; server: RemoteServer; vocabSize: number },
): void {
  if (drawn.ended === 'abort') throw new AskAgain(`${server.url} cancelled the request.`);
  const problem = shapeProblem(drawn, stopTokens, { ...asked, vocabSize });
  if (problem !== undefined) throw new UnusableAnswer(`${server.url}: ${problem}.`);
  requireAsked(drawn, tokens, { model: asked.model, server });
}

/** @throws UnusableAnswer for another context; OtherWeights */
export function requireAsked(
  { model, weights = [], contextTokens }: Pick<Drawn, 'model' | 'weights' | 'contextTokens'>,
  { length }: readonly number[],
  { model: asked, server }: { model: string; server: RemoteServer },
): void {
  if (contextTokens !== undefined && contextTokens !== length)
    throw new UnusableAnswer(
      `${server.url}: it counts ${contextTokens} tokens of context, but ${length} were sent.`,
    );
  if (model !== undefined && model !== asked)
    throw new OtherWeights(`${server.url} answered as model ${model}, but ${asked} was requested.`);
  const other = weights.find((name) => name !== server.weights);
  if (other !== undefined)
    throw new OtherWeights(
      `${server.url} sampled from weights ${other} instead of ${server.weights}.`,
    );
}

function shapeProblem(
  { tokens, logProbs, ended }: Drawn,
  stopTokens: readonly number[],
  { maxTokens, vocabSize }: { maxTokens: number; vocabSize: number },
): string | undefined {
  const stop: Generation['stop'] = ended === 'stop' ? 'stop-token' : 'max-tokens';
  const made = { tokens, logProbs, stop, version: 0 };
  const problem = generationProblem(made, { maxTokens, stopTokens, vocabSize });
  if (problem !== undefined) return problem;
  if (ended === 'length' && tokens.length < maxTokens)
    return `it stopped at the length limit after only ${tokens.length} of ${maxTokens} tokens`;
  if (ended === 'early' && tokens.length === 0) return 'it stopped before the first token';
  const passed = tokens.slice(0, -1).find((token) => stopTokens.includes(token));
  return passed === undefined ? undefined : `it continues after stop token ${passed}`;
}
