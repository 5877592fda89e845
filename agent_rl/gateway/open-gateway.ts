import { randomUUID } from 'node:crypto';

import type { EpisodeLimits, Gateway, RolloutDoor } from '../rollout/episode-parts.ts';
import { retrying } from '../rollout/retrying.ts';
import type { EpisodeLog } from '../rollout/episode-log.ts';
import { messageOf } from '../core/errors.ts';
import { rollouts } from '../core/services/rollout-scope.ts';
import { notTimed } from '../core/stopping/work-clock.ts';
import { EventAnswer, page } from '../http/answer-request.ts';
import { servePages } from '../http/serve-pages.ts';
import { redactor } from '../telemetry/redact.ts';
import { openAiError } from './dialects/openai-answers.ts';
import { answerCall, type Call, type CallRules } from './doors/answer-call.ts';
import { fetchDoor } from './doors/fetch-door.ts';
import type { ServedModel } from './sampling/served-model.ts';
import { TurnOwners } from './turns/turn-owners.ts';
import { over, Session } from './turns/session.ts';
import type { SessionRules } from './turns/session-rules.ts';
import { sessionRecord } from './turns/session-record.ts';

export interface GatewayOptions extends CallRules, Pick<SessionRules, 'history'> {
  model: ServedModel;
  limits: Pick<EpisodeLimits, 'maxTurnTokens' | 'maxTurns' | 'retries'>;
  /** Told of what failed by our own fault, and once of each field that requests give and nothing heeds. */
  onFailure: (message: string) => void;
}

export type OpenedGateway = Gateway & { close(): Promise<void> };

/** After this long without a word, a client may be cut off by something between. */
export const beatMs = 20_000;
export const keepAliveMs = 75_000;

/** Opens the way to the model for agents with a loop of their own: by `fetch` in this process, by HTTP from others. */
export async function openGateway(options: GatewayOptions): Promise<OpenedGateway> {
  const { model, limits, history } = options;
  const { maxTurnTokens, maxTurns, retries = 0 } = limits;
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
        if (answer === undefined) throw over(401);
        const header = (name: string) => headers[name]?.toString();
        return answer({ method, path: groups['path'] ?? '', header, body, signal });
      }),
    ),
    mostRequests: Infinity,
    requestTimeoutMs: 60_000,
    keepAliveMs,
    beatMs,
    errorBody: openAiError,
    onFailure: options.onFailure,
  });
  rollouts.open += 1;
  const redact = redactor();
  const said = new Set<string>();
  const sayOnce = (text: string): void => {
    if (!said.has(text)) options.onFailure(text);
    said.add(text);
  };
  const onIgnored = (field: string): void =>
    sayOnce(
      `The agent's requests set "${field}", which has no effect in training (the metric gateway/ignored/${field} counts these requests).`,
    );
  const owners = new TurnOwners();
  const baseURL = `${server.url}/v1`;
  return {
    enter: ({ seed, step, task: { taskId }, key: { sample }, sampling }, log, signal) => {
      const apiKey = `rollout-${randomUUID()}`;
      const onRetry = (thrown: unknown) => log.retried(messageOf(thrown));
      const session = new Session(model, {
        secret: [seed, step, taskId, sample].join('/'),
        sampling,
        version: step,
        maxTurnTokens,
        maxTurns,
        history,
        keyOf: (_, __, draw) => ({ seed, taskId, sample, turn: draw }),
        live: false,
        mostTokens: Infinity,
        attempt: (work) => retrying(work, { retries, signal, onRetry }),
        redact,
        onIgnored,
        owners,
      });
      const { answer, waitIn } = doorOf(session, options, log);
      doors.set(apiKey, answer);
      return {
        fetch: fetchDoor(answer),
        baseURL,
        apiKey,
        waitIn,
        end: async (given) => {
          doors.delete(apiKey);
          await session.end();
          if (given !== undefined && session.asked === 0) sayOnce(askedNothing);
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

const askedNothing =
  'An agent returned an answer, but no model request was recorded for its rollout. If the agent sent one, a queue or a pool that rollouts share assigned the request to another rollout. Use context.fetch in such code; the agent receives it.';

const anywhere = <Value>(work: () => Value): Value => work();

function doorOf(session: Session, rules: CallRules, { watch }: Pick<EpisodeLog, 'watch'>) {
  let inContext = anywhere;
  /** What the model takes costs the agent no time. */
  const waiting = <Value>(work: () => Promise<Value>): Promise<Value> =>
    inContext(() => notTimed(() => watch.time('generation', work)));
  const answer = async (call: Call): Promise<object> => {
    const answered = await waiting(() => answerCall(call, session, rules));
    return answered instanceof EventAnswer
      ? new EventAnswer(eachAwaited(answered.events, waiting))
      : answered;
  };
  const waitIn: RolloutDoor['waitIn'] = (context) => void (inContext = context);
  return { answer, waitIn };
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
