import { randomUUID } from 'node:crypto';

import type { GenerationRequest } from '../../core/services/generator.ts';
import { checkDrawn } from './check-drawn.ts';
import { mostAnswerBytes } from './drawn-in-parts.ts';
import type { RemoteServer } from './remote-server.ts';
import { OtherWeights } from './server-failures.ts';
import { requestSeed } from '../request-seed.ts';
import type { Asked, Drawn, ServerProtocol } from './server-protocol.ts';

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
  const { maxTokens, key } = request;
  const asked: Asked = { model: server.model, id: randomUUID(), seed: requestSeed(key), maxTokens };
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

/** Nobody waits for it: a server that does not hear of it draws the rest in vain. */
function tellOfAbort(server: RemoteServer, protocol: ServerProtocol, id: string): void {
  const asked = protocol.abort?.(id);
  if (asked === undefined) return;
  void server.send({ method: 'POST', ...asked, deadlineS: tellS }).catch(() => undefined);
}

const tellS = 10;
