import { randomUUID } from 'node:crypto';

import type { RolloutDoor } from '../rollout/rollout-door.ts';
import type { EpisodeLimits, EpisodeRequest, Gateway } from '../rollout/episode-parts.ts';
import { retrying } from '../rollout/retrying.ts';
import type { EpisodeLog } from '../rollout/episode-log.ts';
import { messageOf } from '../core/errors.ts';
import { rollouts } from '../core/services/rollout-scope.ts';
import { notTimed } from '../core/stopping/work-clock.ts';
import { EventAnswer, page } from '../http/answer-request.ts';
import { Refusal } from '../http/refusal.ts';
import { servePages } from '../http/serve-pages.ts';
import { redactor } from '../telemetry/redact.ts';
import { openAiError } from './dialects/openai-answers.ts';
import { answerCall, type Call, type CallRules } from './doors/answer-call.ts';
import { fetchDoor } from './doors/fetch-door.ts';
import type { ServedModel } from './sampling/served-model.ts';
import { Session, type SessionRules } from './turns/session.ts';
import { sessionRecord } from './turns/session-record.ts';

export interface GatewayOptions extends CallRules, Pick<SessionRules, 'history'> {
  model: ServedModel;
  limits: Pick<EpisodeLimits, 'maxTurnTokens' | 'maxTurns' | 'retries'>;
  /** Told of what failed by our own fault, and once of each field that requests give and nothing heeds. */
  onFailure: (message: string) => void;
}

export interface OpenedGateway extends Gateway {
  close(): Promise<void>;
}

/** After this long without a word, a client may be cut off by something between. */
export const beatMs = 20_000;
export const keepAliveMs = 75_000;
const mostBody = { bytes: 64 * 2 ** 20, values: 1_000_000 };
const requestTimeoutMs = 60_000;

/** Opens the way to the model for agents with a loop of their own: by `fetch` in this process, by HTTP from others. */
export async function openGateway(options: GatewayOptions): Promise<OpenedGateway> {
  const doors = new Map<string, (call: Call) => Promise<object>>();
  const server = await servePages({
    host: '127.0.0.1',
    port: 0,
    code: 'CONFIG_INVALID',
    what: 'The gateway',
    pages: (['GET', 'POST'] as const).map((method) =>
      page(method, /^(?<path>\/v1\/.+)$/, ({ groups, body, headers, signal }) => {
        const key = /^Bearer (?<key>.+)$/i.exec(headers.authorization ?? '')?.groups?.['key'] ?? '';
        const answer = doors.get(key);
        if (answer === undefined) throw unknownKey();
        const header = (name: string) => headers[name]?.toString();
        return answer({ method, path: groups['path'] ?? '', header, body, signal });
      }),
    ),
    mostRequests: Infinity,
    bodyBounds: mostBody,
    requestTimeoutMs,
    keepAliveMs,
    beatMs,
    errorBody: openAiError,
    onFailure: options.onFailure,
  });
  rollouts.open += 1;
  const redact = redactor();
  const said = new Set<string>();
  const onIgnored = (field: string): void => {
    if (said.has(field)) return;
    said.add(field);
    options.onFailure(
      `The agent's requests hold the field "${field}", which has no effect in training (gateway/ignored/${field} counts them).`,
    );
  };
  const baseURL = `${server.url}/v1`;
  return {
    enter: (request, log, signal) => {
      const apiKey = `rollout-${randomUUID()}`;
      const session = new Session(options.model, {
        ...rulesOf(request, log, { ...options, signal }),
        redact,
        onIgnored,
      });
      const { door, answer } = doorOf(session, { baseURL, apiKey, rules: options, log });
      doors.set(apiKey, answer);
      return {
        ...door,
        end: async (given) => {
          doors.delete(apiKey);
          await session.end();
          return sessionRecord(session, given);
        },
      };
    },
    close: async () => {
      rollouts.open -= 1;
      await server.close();
    },
  };
}

const unknownKey = (): Refusal =>
  new Refusal(401, 'This key names no rollout that is under way.', [], 'rollout_over');

function rulesOf(
  { seed, step, task, key, sampling }: EpisodeRequest,
  log: Pick<EpisodeLog, 'retried'>,
  { limits, history, signal }: GatewayOptions & { signal: AbortSignal },
): Omit<SessionRules, 'redact'> {
  const { taskId } = task;
  const { sample } = key;
  return {
    secret: [seed, step, taskId, sample].join('/'),
    sampling,
    maxTurnTokens: limits.maxTurnTokens,
    maxTurns: limits.maxTurns,
    history,
    keyOf: (_, __, draw) => ({ seed, taskId, sample, turn: draw }),
    live: false,
    keepsContexts: true,
    mostTokens: Infinity,
    attempt: (work) =>
      retrying(work, {
        retries: limits.retries ?? 0,
        signal,
        onRetry: (thrown) => log.retried(messageOf(thrown)),
      }),
  };
}

const anywhere = <Value>(work: () => Value): Value => work();

function doorOf(
  session: Session,
  {
    baseURL,
    apiKey,
    rules,
    log,
  }: { baseURL: string; apiKey: string; rules: CallRules; log: Pick<EpisodeLog, 'watch'> },
) {
  let inContext = anywhere;
  /** What the model takes costs the agent no time. */
  const waiting = <Value>(work: () => Promise<Value>): Promise<Value> =>
    inContext(() => notTimed(() => log.watch.time('generation', work)));
  const answer = async (call: Call): Promise<object> => {
    const answered = await waiting(() => answerCall(call, session, rules));
    return answered instanceof EventAnswer
      ? new EventAnswer(eachAwaited(answered.events, waiting))
      : answered;
  };
  const door: Omit<RolloutDoor, 'end'> = {
    fetch: fetchDoor(answer),
    baseURL,
    apiKey,
    waitIn: (context) => void (inContext = context),
  };
  return { door, answer };
}

async function* eachAwaited(
  events: AsyncIterable<string>,
  waiting: <Value>(work: () => Promise<Value>) => Promise<Value>,
) {
  const iterator = events[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await waiting(() => iterator.next());
      if (done === true) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
