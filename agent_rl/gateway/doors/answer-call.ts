import { randomInt } from 'node:crypto';

import { Refusal } from '../../http/refusal.ts';
import { chatCompletion } from '../dialects/chat-completions.ts';
import type { Answering } from '../dialects/openai-answers.ts';
import { response } from '../dialects/responses.ts';
import { over, type Session } from '../turns/session.ts';

/** A request, however it came. */
export interface Call {
  method: string;
  path: string;
  header: (name: string) => string | undefined;
  body: unknown;
  signal: AbortSignal;
}

export interface CallRules {
  /** What to do with a request for what the model cannot do, such as `response_format`. */
  unsupported: 'ignore' | 'refuse';
  /** Models that are not trained, by the name that a request gives. */
  others?: ReadonlyMap<string, (call: Call) => Promise<object>> | undefined;
}

/** Answers the body of a request. @throws Refusal */
export type Dialect = (given: unknown, answering: Answering) => Promise<object>;

/** By the end of the address. */
const dialects: readonly (readonly [RegExp, Dialect])[] = [
  [/\/chat\/completions$/, chatCompletion],
  [/\/responses$/, response],
];

/** Answers a request of a session: the one handler behind HTTP, `fetch` and the model of the AI SDK. @throws Refusal */
export async function answerCall(
  call: Call,
  session: Session,
  { unsupported, others }: CallRules,
): Promise<object> {
  if (session.isOver) throw over(401);
  const { model } = Object(call.body) as { model?: unknown };
  const other = typeof model === 'string' ? others?.get(model) : undefined;
  if (other !== undefined) return other(call);
  const dialect = dialects.find(([path]) => path.test(call.path))?.[1];
  const models = /\/models(?:\/.+)?$/.test(call.path) && call.method === 'GET';
  if (models) return { object: 'list', data: [] };
  if (dialect === undefined || call.method !== 'POST') {
    const asked = `${call.method} ${call.path.slice(0, 80)}`;
    const there = 'Use POST /v1/chat/completions or POST /v1/responses.';
    throw new Refusal(404, `${asked} does not exist. ${there}`, [], 'not_found');
  }
  const name = typeof model === 'string' ? model : 'policy';
  return answeredBy(dialect, call, { session, unsupported, model: name });
}

export const answeredBy = (
  dialect: Dialect,
  { body, header, signal }: Pick<Call, 'body' | 'header' | 'signal'>,
  { session, unsupported, model }: Answerer,
): Promise<object> =>
  dialect(body, {
    session,
    head: { created: Math.floor(Date.now() / 1000), model },
    signal,
    seed: randomInt(2 ** 32),
    // As clients of OpenAI's own library say it.
    retried: Number(header('x-stainless-retry-count') ?? 0) > 0,
    ignore: unsupported === 'ignore' ? (field) => session.ignore(field) : undefined,
  });

type Answerer = Pick<CallRules, 'unsupported'> & { session: Session; model: string };
